#include "weft/gradient.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "api/gradient_facts.hpp"
#include "api/option_table.hpp"
#include "api/plan_impl.hpp"
#include "api/problem_check.hpp"
#include "api/user_layout.hpp"
#include "base/memory.hpp"
#include "base/text.hpp"
#include "comm/agree.hpp"
#include "geometry/transform.hpp"
#include "weft/operators.hpp"

namespace weft {

namespace {

constexpr const char* operation = "gradient";

/// One of the two arrays of this rank.
struct Side {
  Box box;
  Order order;
  Layout layout;  ///< of all arrays
  Strides strides;
  Index distance = 0;
};

/// The derivative along an axis.
struct Derivative {
  int axis;
  std::optional<int> pairs;  ///< real points along this axis are taken two at a time, as complex ones
  Plan plan;
  ModeOperator op;
};

/// The problem of all derivatives at once, by an operator between transforms along all axes. Throws
/// `weft::Error` for what has no gradient, or none by transforms along one axis at a time.
Problem problem_of_all(Problem p, int ranks) {
  const auto refuse = [](const std::string& what, const std::string& wanted) {
    throw Error(operation, what, wanted);
  };
  if (p.between != Between::none || p.results != 0)
    refuse("a problem with something between two transforms", "Problem::between none, and results 0");
  if (p.in_place) refuse("in place", "arrays of their own for fields and derivatives");
  if (!p.modes.empty() || !p.points.empty() || !p.line.empty())
    refuse("a problem with kept modes, given points or a line",
           "transforms of all points, or a plan with the operator `gradient`");
  for (const Distribution* d : {&p.input, &p.output})
    if (has_columns(*d) || d->kind() == Distribution::Kind::fastest)
      refuse("a distribution by columns, or fastest", "boxes, slabs, pencils, bricks or a grid");
  p.between = Between::modes;
  check_problem(p, ranks);
  Index axes = 0;
  for (int a = 0; a < p.shape.size(); ++a) {
    if (is_r2r(p.transforms[a]))
      refuse(std::string(name_of(p.transforms[a])) + " along axis " + std::to_string(a),
             "c2c, r2c or none: the derivative of a DCT is a DST, and the other way round");
    axes += p.transforms[a] != Transform::none ? 1 : 0;
  }
  p.results = axes * p.batch;
  return p;
}

/// This rank's two sides. Collective.
std::array<Side, 2> sides_of(const Comm& comm, const Problem& all) {
  Problem probe = all;
  probe.between = Between::none;
  probe.results = 0;
  std::ranges::fill(probe.transforms, Transform::none);
  const Plan plan(comm, probe);
  std::array<Side, 2> sides{Side{plan.input_box(), plan.input_order(), {}, plan.input_strides(), 0},
                            Side{plan.output_box(), plan.output_order(), {}, plan.output_strides(), 0}};
  agree(comm.impl(), operation, [&] {
    for (const bool input : {true, false}) {
      Side& side = sides[input ? 0 : 1];
      side.layout = user_layout(all, input, side.box, side.order);
      if (side.layout.strides.size() > all.shape.size()) side.distance = side.layout.strides.back();
    }
    const Index unit = (all.element == Element::complex ? 2 : 1) * real_bytes(all.precision);
    if (all.memory != MemoryKind::host && all.results > all.batch && sides[1].distance * unit % 16 != 0)
      throw Error(
          operation,
          "derivatives " + std::to_string(sides[1].distance) + " elements from each other in memory of a GPU",
          "an output_distance of multiples of " + std::to_string(16 / unit));
  });
  return sides;
}

/// Whether this rank's real points lie in pairs along an axis, as complex numbers do.
bool lie_in_pairs(const Side& side, int axis, Index real_bytes_of_gpu) {
  const Box& box = side.box;
  if (box.empty()) return true;
  const auto even = [](Index i) { return i % 2 == 0; };
  for (int a = 0; a < box.ndim(); ++a)
    if (a != axis && box.extent(a) > 1 && !even(side.strides[a])) return false;
  const bool on_16 = (side.layout.offset * real_bytes_of_gpu) % 16 == 0;
  return side.strides[axis] == 1 && even(box.lo[axis]) && even(box.hi[axis]) && even(side.distance) && on_16;
}

/// The distribution of pairs.
Distribution pairs_of(const Side& side, int axis) {
  Box box = side.box;
  box.lo[axis] /= 2;
  box.hi[axis] /= 2;
  Strides strides = side.strides;
  for (int a = 0; a < strides.size(); ++a) strides[a] = a == axis ? 1 : std::max<Index>(1, strides[a] / 2);
  return Distribution::box(box).with_strides(strides);
}

}  // namespace

struct Gradient::Impl {
  Comm comm;
  Problem problem;
  std::array<Side, 2> sides;  ///< the fields, the derivatives
  AxisVector<int> axes;       ///< in the order of the derivatives
  std::vector<Derivative> derivatives;

  Index unit() const { return (problem.element == Element::complex ? 2 : 1) * real_bytes(problem.precision); }

  /// An axis other than `axis` along which all ranks have real points in pairs. Collective.
  ///
  /// A transform of complex numbers, and a real factor on every mode times i, leave real and imaginary parts
  /// apart: two lines of real points are one of complex points. Of lines that lie apart FFT libraries take
  /// complex points several at a time, and half as long as two transforms of real ones.
  std::optional<int> pairs_beside(int axis) {
    if (problem.element != Element::real) return std::nullopt;
    const Index bytes = problem.memory == MemoryKind::host ? 0 : real_bytes(problem.precision);
    std::optional<int> found;
    for (int b = 0; b < problem.shape.size(); ++b) {
      const bool mine = std::ranges::all_of(sides, [&](const Side& s) { return lie_in_pairs(s, b, bytes); });
      if (comm.impl().least(mine ? 1 : 0) == 1 && b != axis && problem.shape[b] % 2 == 0) found = b;
    }
    return found;
  }

  /// Collective.
  void add(int axis, const Options& options, const AxisVector<double>& lengths) {
    Problem p = problem;
    const std::optional<int> pairs = pairs_beside(axis);
    const bool real = problem.element == Element::real && !pairs;
    std::ranges::fill(p.transforms, Transform::none);
    p.transforms[axis] = real ? Transform::r2c : Transform::c2c;
    p.results = 0;
    p.forward_scale = Scale::none;
    p.backward_scale = Scale::full;
    const Index parts = pairs ? 2 : 1;
    p.input_distance = sides[0].distance / parts;
    p.output_distance = p.batch > 1 ? sides[1].distance * axes.size() / parts : 0;
    if (pairs) {
      p.element = Element::complex;
      p.shape[*pairs] /= 2;
      p.input = pairs_of(sides[0], *pairs);
      p.output = pairs_of(sides[1], *pairs);
    }
    std::optional<ModeOperator> op;
    agree(comm.impl(), operation, [&] { op = derivative(p, axis, 1, lengths); });
    derivatives.push_back({axis, pairs, Plan(comm, p, options), *op});
  }

  void execute(const void* in, void* out) {
    const auto* from = static_cast<const std::byte*>(in);
    auto* to = static_cast<std::byte*>(out);
    for (Derivative& d : derivatives) {
      const Index first = d.pairs ? unit() : 0;  // pairs begin with the first point of the box
      const void* read = offset(from, first * sides[0].layout.offset);
      void* write = to == nullptr ? nullptr : to + first * sides[1].layout.offset;
      d.plan.apply(read, write, d.op);
      to = to == nullptr ? nullptr : to + sides[1].distance * unit();
    }
  }
  static const void* offset(const std::byte* from, Index bytes) {
    return from == nullptr ? nullptr : from + bytes;
  }
};

Gradient::Gradient(const Comm& comm, const Problem& problem, const Options& options,
                   const AxisVector<double>& lengths)
    : Gradient(comm, problem, options, lengths, false) {}

Gradient::Gradient(const Comm& comm, const Problem& problem, const Options& options,
                   const AxisVector<double>& lengths, bool last_axis_first) {
  CommImpl& c = comm.impl();
  c.check_alive(operation);
  Problem all;
  planning(c, [&] {
    std::vector<std::string> mine;
    together(c, operation, [&] {
      if (wishes_of(options).users_workspace.value)
        throw Error(operation, "option workspace=user", "plan: each derivative has a plan with a workspace");
      all = problem_of_all(problem, comm.size());
      mine = describe(all);
      mine.push_back("lengths {" + join(lengths, ",") + "}");
      mine.push_back(std::string("derivatives of the ") + (last_axis_first ? "last" : "first") +
                     " axis first");
    });
    compare_lines(c, mine);
    const std::array<Side, 2> sides = collectively([&] { return sides_of(comm, all); });
    impl_ = std::make_unique<Impl>(Impl{comm, all, sides, {}, {}});
    for (int a = 0; a < all.shape.size(); ++a)
      if (all.transforms[a] != Transform::none) impl_->axes.push_back(a);
    if (last_axis_first) std::ranges::reverse(impl_->axes);
    for (const int axis : impl_->axes) collectively([&] { impl_->add(axis, options, lengths); });
  });
}
Gradient::~Gradient() = default;
Gradient::Gradient(Gradient&&) noexcept = default;
Gradient& Gradient::operator=(Gradient&&) noexcept = default;

Gradient::Impl& Gradient::impl() const {
  if (!impl_) throw Error(operation, "a gradient that has been moved away", "the one it was moved to");
  return *impl_;
}

bool Gradient::has_elements(Element element, int bytes) const {
  return impl().problem.element == element && real_bytes(impl().problem.precision) == bytes;
}

void Gradient::execute(const void* in, void* out, bool is_of_type) {
  const Problem& p = impl().problem;
  if (!is_of_type)
    PlanImpl::of(impl().derivatives.front().plan)
        .refuse_execution(operation, Error(operation, "arrays of another type",
                                           std::string(p.element == Element::real ? "real" : "complex") +
                                               " numbers in the precision of the problem"));
  impl().execute(in, out);
}

void Gradient::set_stream(CUstream_st* stream) {
  for (Derivative& d : impl().derivatives) d.plan.set_stream(stream);
}

const Box& Gradient::input_box() const {
  return impl().sides[0].box;
}
const Box& Gradient::output_box() const {
  return impl().sides[1].box;
}
const Order& Gradient::input_order() const {
  return impl().sides[0].order;
}
const Order& Gradient::output_order() const {
  return impl().sides[1].order;
}
const Strides& Gradient::input_strides() const {
  return impl().sides[0].strides;
}
const Strides& Gradient::output_strides() const {
  return impl().sides[1].strides;
}
Index Gradient::input_offset() const {
  return impl().sides[0].layout.offset;
}
Index Gradient::output_offset() const {
  return impl().sides[1].layout.offset;
}
Index Gradient::input_distance() const {
  return impl().sides[0].distance;
}
Index Gradient::output_distance() const {
  return impl().sides[1].distance;
}
std::size_t Gradient::input_count() const {
  return static_cast<std::size_t>(impl().sides[0].layout.count);
}
std::size_t Gradient::output_count() const {
  return static_cast<std::size_t>(impl().sides[1].layout.count);
}

std::size_t Gradient::workspace_bytes() const {
  std::size_t sum = 0;
  for (const Derivative& d : impl().derivatives) sum += d.plan.workspace_bytes();
  return sum;
}

const AxisVector<int>& Gradient::axes() const {
  return impl().axes;
}

const Plan& Gradient::along(int axis) const {
  const auto& all = impl().derivatives;
  const auto found = std::ranges::find(all, axis, &Derivative::axis);
  if (found == all.end())
    throw Error(operation, "axis " + std::to_string(axis), "one of {" + join(impl().axes, ",") + "}");
  return found->plan;
}

Gradient GradientFacts::make(const Comm& comm, const Problem& problem, const Options& options,
                             const AxisVector<double>& lengths, Components order) {
  return {comm, problem, options, lengths, order == Components::last_axis_first};
}

const Problem& GradientFacts::problem(const Gradient& gradient) {
  return gradient.impl().problem;
}

std::string Gradient::to_string() const {
  std::string text = "weft gradient: derivatives along axes " + join(impl().axes, ",") + ", workspace " +
                     human_bytes(static_cast<double>(workspace_bytes())) + "\n";
  for (const Derivative& d : impl().derivatives) {
    text += "\naxis " + std::to_string(d.axis);
    if (d.pairs) text += ", two real points along axis " + std::to_string(*d.pairs) + " as a complex one";
    text += "\n" + d.plan.to_string();
  }
  return text;
}

}  // namespace weft
