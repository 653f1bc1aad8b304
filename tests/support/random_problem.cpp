#include "support/random_problem.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>

#include "api/problem_check.hpp"
#include "base/environment.hpp"
#include "base/text.hpp"
#include "comm/comm_impl.hpp"
#include "geometry/layout.hpp"
#include "schedule/planner.hpp"
#include "weft/buffer.hpp"
#include "weft/plan.hpp"

namespace weft::test {

namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed * 0x9E3779B97F4A7C15u + 12345) {}
  /// A whole number of lo..hi.
  int range(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random_); }
  bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return *(choices.begin() + range(0, static_cast<int>(choices.size()) - 1));
  }
  std::mt19937_64& engine() { return random_; }

 private:
  std::mt19937_64 random_;
};

Order random_order(Dice& dice, int ndim) {
  Order order = c_order(ndim);
  std::shuffle(order.begin(), order.end(), dice.engine());
  return order;
}

void cut(Dice& dice, const Box& box, int parts, std::vector<Box>& out) {
  if (parts == 1) {
    out.push_back(box);
    return;
  }
  const int left = dice.range(1, parts - 1);
  const int axis = dice.range(0, box.ndim() - 1);
  const Index n = box.extent(axis);
  const Index at =
      dice.chance(0.85) ? n * left / parts : static_cast<Index>(dice.range(0, static_cast<int>(n)));
  Box a = box, b = box;
  a.hi[axis] = b.lo[axis] = box.lo[axis] + at;
  cut(dice, a, left, out);
  cut(dice, b, parts - left, out);
}

Shape random_shape(Dice& dice, int ranks) {
  const int ndim = dice.chance(0.75) ? dice.range(2, 3) : ranks == 1 ? dice.range(1, 8) : dice.range(2, 8);
  const Index limit = dice.chance(0.1) ? 60000 : 6000;
  Shape shape(ndim, 1);
  for (int a = 0; a < ndim; ++a) {
    Index room = limit;
    for (Index n : shape) room /= n;
    const int most = static_cast<int>(std::clamp<Index>(room, 1, ndim > 4 ? 7 : 128));
    shape[a] = dice.chance(0.3) ? std::min(most, dice.pick({1, 2, 3, 7, 16, 31, 64, 97, 127, 128}))
                                : dice.range(1, dice.chance(0.7) ? std::min(most, 24) : most);
  }
  std::shuffle(shape.begin(), shape.end(), dice.engine());
  return shape;
}

Distribution random_named(Dice& dice, int ndim, int ranks) {
  const int axis = dice.range(0, ndim - 1);
  switch (dice.range(0, 4)) {
    case 0:
      if (ndim >= 3) return Distribution::pencil(axis);
      break;
    case 1:
      return Distribution::brick();
    case 2:
      return Distribution::fastest();
    case 3: {
      AxisVector<int> grid(ndim, 1);
      grid[axis] = dice.range(1, ranks);
      return Distribution::grid(grid);
    }
    default:
      break;
  }
  return Distribution::slab(axis);
}

void draw_distribution(Dice& dice, RandomProblem& p, bool input) {
  const Shape shape = input ? p.problem.shape : output_shape(p.problem.shape, p.problem.transforms);
  const int ndim = shape.size();
  Distribution& named = input ? p.problem.input : p.problem.output;
  named = random_named(dice, ndim, p.ranks);
  if (dice.chance(0.4))
    (input ? p.input_boxes : p.output_boxes) = random_tiling(dice.engine()(), shape, p.ranks);
  std::vector<Order>& orders = input ? p.input_orders : p.output_orders;
  const bool natural = dice.chance(0.5), alike = dice.chance(0.5);
  orders.assign(static_cast<std::size_t>(p.ranks), c_order(ndim));
  if (natural) return;
  const Order common = random_order(dice, ndim);
  for (Order& o : orders) o = alike ? common : random_order(dice, ndim);
}

void draw_options(Dice& dice, RandomProblem& p, bool mpi) {
  Options& o = p.options;
  o.set("check", "collective");
  const int ndim = p.problem.shape.size();
  o.set("decomposition", ndim >= 3 ? dice.pick({"auto", "slab", "pencil"}) : dice.pick({"auto", "slab"}));
  if (dice.chance(0.7)) {
    o.set("pipeline", "windowed");
    if (dice.chance(0.8)) o.set("tile", dice.range(0, 9));
    if (dice.chance(0.8)) o.set("window", dice.range(1, 5));
  } else {
    o.set("pipeline", dice.pick({"auto", "sequential", "sequential"}));
  }
  p.user_workspace = dice.chance(0.2);
  if (p.user_workspace) o.set("workspace", "user");
  if (mpi) {
    p.exchanges = {"p2p", "alltoallv", "pairwise"};
  } else if (p.user_workspace) {
    p.exchanges = {"copy"};
  } else {
    p.exchanges = {"direct", "copy"};
  }
  // What auto picks depends on the exchange; only equal tiles give equal bits.
  if (o.get("pipeline") == "auto")
    p.exchanges = {p.exchanges[static_cast<std::size_t>(dice.range(0, 2)) % p.exchanges.size()]};
}

void draw_values(Dice& dice, RandomProblem& p) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  const bool real = std::count(p.problem.transforms.begin(), p.problem.transforms.end(), Transform::r2c) > 0;
  const auto rounded = [&](double v) {
    return p.problem.precision == Precision::float64 ? static_cast<long double>(v)
                                                     : static_cast<long double>(static_cast<float>(v));
  };
  const Index n = Box::whole(p.problem.shape).count();
  for (Index i = 0; i < n; ++i) {
    const double re = uniform(dice.engine()), im = uniform(dice.engine());
    p.values.emplace_back(rounded(re), real ? 0 : rounded(im));
  }
  p.exact = direct_sum(p.problem.shape, p.problem.transforms, p.values);
  const double serial =
      serial_fftw_error(p.problem.shape, p.problem.transforms, p.problem.precision, p.values, p.exact);
  p.bound = error_bound(p.problem.shape, p.problem.transforms, p.problem.precision, serial);
}

/// Calls `f(position in the whole array in C order, position in the box's memory)` for every point of a box.
template <class F>
void for_points(const Shape& shape, const Box& box, const Order& order, const F& f) {
  if (box.empty()) return;
  const Strides whole = dense_strides(shape, c_order(shape.size()));
  const Strides mine = dense_strides(box.extents(), order);
  Shape at = box.lo;
  for (;;) {
    Index from = 0, to = 0;
    for (int a = 0; a < shape.size(); ++a) {
      from += at[a] * whole[a];
      to += (at[a] - box.lo[a]) * mine[a];
    }
    f(static_cast<std::size_t>(from), static_cast<std::size_t>(to));
    int a = shape.size() - 1;
    for (; a >= 0 && ++at[a] == box.hi[a]; --a) at[a] = box.lo[a];
    if (a < 0) return;
  }
}

/// Memory for `count` elements, off the alignment by one real number if asked for, with a fence behind it.
template <class T>
class FencedArray {
 public:
  using Real = decltype(std::real(T{}));
  FencedArray(std::size_t bytes, bool misaligned)
      : bytes_(bytes), offset_(misaligned ? sizeof(Real) : 0), memory_(bytes + offset_ + fence) {
    std::memset(memory_.data(), 0x5A, memory_.size());
  }
  T* data() { return reinterpret_cast<T*>(memory_.data() + offset_); }
  bool fence_intact() const {
    return std::all_of(memory_.begin() + offset_ + bytes_, memory_.end(),
                       [](unsigned char c) { return c == 0x5A; });
  }

 private:
  static constexpr std::size_t fence = 64;
  std::size_t bytes_, offset_;
  Buffer<unsigned char> memory_;
};

template <class Real>
Real narrowed(const Exact& v, Real*) {
  return static_cast<Real>(v.real());
}
template <class Real>
std::complex<Real> narrowed(const Exact& v, std::complex<Real>*) {
  return {static_cast<Real>(v.real()), static_cast<Real>(v.imag())};
}

/// Fails on all ranks if it failed on one, so that no rank goes on alone.
void fail_together(const Comm& comm, const std::string& mine) {
  if (comm.impl().least(mine.empty() ? 1 : 0) == 0)
    throw std::runtime_error(mine.empty() ? "another rank failed" : mine);
}

/// One plan, executed twice in both directions.
template <class In, class Out>
class Trial {
 public:
  Trial(const Comm& comm, const RandomProblem& p, const std::string& exchange)
      : comm_(comm),
        p_(p),
        problem_(p.of(comm.rank())),
        plan_(comm, problem_, Options(p.options).set("exchange", exchange)),
        half_(output_shape(problem_.shape, problem_.transforms)),
        scale_(static_cast<long double>(plan_.scale_factor())) {}

  /// The local results of forward and backward, for comparison with those of other exchanges.
  std::pair<std::vector<Out>, std::vector<In>> run() {
    check_workspace();
    std::pair<std::vector<Out>, std::vector<In>> first;
    for (int repeat = 0; repeat < 2; ++repeat) {
      std::vector<Out> spectrum = one_way<In, Out>(Direction::forward, p_.values, p_.exact, 1);
      std::vector<In> back = one_way<Out, In>(Direction::backward, p_.exact, p_.values, scale_);
      if (repeat == 0) {
        first = {std::move(spectrum), std::move(back)};
      } else if (!same(first.first, spectrum) || !same(first.second, back)) {
        failure_ = "the second execution differs from the first";
      }
    }
    fail_together(comm_, failure_);
    return first;
  }

  template <class T>
  static bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
  }

 private:
  void check_workspace() {
    if (plan_.workspace_bytes() % 64 != 0) failure_ = "workspace is not a multiple of 64 bytes";
    const std::string text = plan_.to_string();
    if (text.find("workspace") == std::string::npos) failure_ = "the plan does not print its workspace";
  }

  template <class A, class B>
  std::vector<B> one_way(Direction d, const std::vector<Exact>& from, const std::vector<Exact>& to,
                         long double scale) {
    const bool fwd = d == Direction::forward;
    const Box in_box = fwd ? plan_.input_box() : plan_.output_box();
    const Box out_box = fwd ? plan_.output_box() : plan_.input_box();
    const Order in_order = fwd ? plan_.input_order() : plan_.output_order();
    const Order out_order = fwd ? plan_.output_order() : plan_.input_order();
    const Shape& in_shape = fwd ? problem_.shape : half_;
    const Shape& out_shape = fwd ? half_ : problem_.shape;
    const auto in_count = static_cast<std::size_t>(in_box.count());
    const auto out_count = static_cast<std::size_t>(out_box.count());
    const bool in_place = problem_.in_place;
    FencedArray<A> in(in_place ? plan_.buffer_bytes() : in_count * sizeof(A), p_.misaligned);
    FencedArray<B> separate(in_place ? 0 : out_count * sizeof(B), p_.misaligned);
    for_points(in_shape, in_box, in_order, [&](std::size_t g, std::size_t l) {
      in.data()[l] = narrowed(from[g], static_cast<A*>(nullptr));
    });
    const std::vector<A> before(in.data(), in.data() + in_count);
    B* out = in_place ? reinterpret_cast<B*>(in.data()) : separate.data();
    Buffer<unsigned char> workspace(p_.user_workspace ? plan_.workspace_bytes() : 0);
    void* work = workspace.size() > 0 ? workspace.data() : nullptr;
    if (fwd) {
      plan_.forward(static_cast<const A*>(in.data()), out, work, workspace.size());
    } else {
      plan_.backward(static_cast<const A*>(in.data()), out, work, workspace.size());
    }
    if (!in.fence_intact() || !separate.fence_intact()) failure_ = "memory behind an array was changed";
    if (!in_place && !same(before, std::vector<A>(in.data(), in.data() + in_count)))
      failure_ = "out of place, the input was changed";
    std::vector<B> result(out, out + out_count);
    compare(d, result, out_shape, out_box, out_order, to, scale);
    return result;
  }

  template <class B>
  void compare(Direction d, const std::vector<B>& result, const Shape& shape, const Box& box,
               const Order& order, const std::vector<Exact>& exact, long double scale) {
    double sums[2] = {0, 0};  // error, norm
    for_points(shape, box, order, [&](std::size_t g, std::size_t l) {
      sums[0] += static_cast<double>(std::norm(Exact(result[l]) - scale * exact[g]));
      sums[1] += static_cast<double>(std::norm(scale * exact[g]));
    });
    std::vector<double> all(2 * static_cast<std::size_t>(comm_.size()));
    comm_.impl().allgather(sums, sizeof sums, all.data());
    double error = 0, norm = 0;
    for (std::size_t r = 0; r < all.size(); r += 2) {
      error += all[r];
      norm += all[r + 1];
    }
    // Backward starts from the exact spectrum rounded to the working precision, which costs up to half an
    // ulp.
    const double relative = norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
    if (!(relative <= p_.bound))
      throw std::runtime_error(std::string(d == Direction::forward ? "forward" : "backward") +
                               ": relative error " + std::to_string(relative / p_.bound) +
                               " times the bound\n" + plan_.to_string());
  }

  const Comm& comm_;
  const RandomProblem& p_;
  Problem problem_;
  Plan plan_;
  Shape half_;
  long double scale_;
  std::string failure_;  ///< on this rank
};

template <class In, class Out>
void run_typed(const Comm& comm, const RandomProblem& p) {
  using T = Trial<In, Out>;
  std::pair<std::vector<Out>, std::vector<In>> first;
  for (std::size_t i = 0; i < p.exchanges.size(); ++i) {
    auto results = T(comm, p, p.exchanges[i]).run();
    const bool same =
        i == 0 || (T::same(first.first, results.first) && T::same(first.second, results.second));
    fail_together(comm,
                  same ? "" : "exchanges " + p.exchanges[0] + " and " + p.exchanges[i] + " differ in a bit");
    first = std::move(results);
  }
}

}  // namespace

std::vector<Box> random_tiling(std::uint64_t seed, const Shape& shape, int ranks) {
  Dice dice(seed);
  std::vector<Box> boxes;
  cut(dice, Box::whole(shape), ranks, boxes);
  std::shuffle(boxes.begin(), boxes.end(), dice.engine());
  return boxes;
}

RandomProblem make_random_problem(std::uint64_t seed, int ranks, bool mpi) {
  Dice dice(seed * 64 + static_cast<std::uint64_t>(ranks));
  RandomProblem p;
  p.seed = seed;
  p.ranks = ranks;
  p.problem.shape = random_shape(dice, ranks);
  const int ndim = p.problem.shape.size();
  p.problem.transforms = AxisVector<Transform>(ndim, Transform::c2c);
  for (Transform& t : p.problem.transforms)
    if (dice.chance(0.15)) t = Transform::none;
  if (dice.chance(0.5)) p.problem.transforms[dice.range(0, ndim - 1)] = Transform::r2c;
  p.problem.precision = dice.chance(0.7) ? Precision::float64 : Precision::float32;
  p.problem.in_place = dice.chance(0.3);
  draw_distribution(dice, p, true);
  draw_distribution(dice, p, false);
  p.own_box_only = dice.chance(0.5);
  draw_options(dice, p, mpi);
  p.misaligned = dice.chance(0.2);
  p.delays = dice.chance(0.1);
  draw_values(dice, p);
  return p;
}

Problem RandomProblem::of(int rank) const {
  Problem mine = problem;
  const auto r = static_cast<std::size_t>(rank);
  const auto side = [&](Distribution& d, const std::vector<Box>& boxes, const std::vector<Order>& orders) {
    if (!boxes.empty()) d = own_box_only ? Distribution::box(boxes[r]) : Distribution::boxes(boxes);
    d = d.with_order(orders[r]);
  };
  side(mine.input, input_boxes, input_orders);
  side(mine.output, output_boxes, output_orders);
  return mine;
}

ScheduleRequest RandomProblem::request(bool tiled_instead) const {
  ScheduleRequest r;
  r.shape = problem.shape;
  r.transforms = problem.transforms;
  r.ranks = ranks;
  const auto side = [&](const std::vector<Box>& boxes, const Distribution& named, const Shape& shape,
                        std::uint64_t salt) -> TilingPtr {
    if (boxes.empty() && !tiled_instead) return named_tiling(named, shape, ranks, "either");
    return std::make_shared<const Tiling>(
        Tiling::from_boxes(shape, boxes.empty() ? random_tiling(seed + salt, shape, ranks) : boxes));
  };
  r.input = side(input_boxes, problem.input, r.shape, 1000);
  r.output = side(output_boxes, problem.output, output_shape(r.shape, r.transforms), 2000);
  r.input_orders = input_orders;
  r.output_orders = output_orders;
  return r;
}

std::string RandomProblem::describe() const {
  std::string text = "seed " + std::to_string(seed) + " on " + std::to_string(ranks) + " ranks: ";
  Options printed = options;
  text += join(weft::describe(of(0), printed), "; ");
  text += user_workspace ? "; user workspace" : "";
  text += misaligned ? "; misaligned" : "";
  for (const Box& b : input_boxes) text += " in" + to_string(b);
  for (const Box& b : output_boxes) text += " out" + to_string(b);
  for (const Order& o : input_orders) text += " {" + join(o, ",") + "}";
  for (const Order& o : output_orders) text += " {" + join(o, ",") + "}";
  return text;
}

void run_random_problem(const Comm& comm, const RandomProblem& p) {
  const bool real = std::count(p.problem.transforms.begin(), p.problem.transforms.end(), Transform::r2c) > 0;
  try {
    if (p.problem.precision == Precision::float64) {
      real ? run_typed<double, std::complex<double>>(comm, p)
           : run_typed<std::complex<double>, std::complex<double>>(comm, p);
    } else {
      real ? run_typed<float, std::complex<float>>(comm, p)
           : run_typed<std::complex<float>, std::complex<float>>(comm, p);
    }
  } catch (const std::exception& e) {
    throw std::runtime_error(std::string(e.what()) + "\n" + p.describe());
  }
}

int problem_count(int standard) {
  const auto value = environment_value("WEFT_TEST_PROBLEMS");
  return value ? std::stoi(*value) : standard;
}

std::uint64_t first_seed() {
  const auto value = environment_value("WEFT_TEST_SEED");
  return value ? std::stoull(*value) : 1;
}

}  // namespace weft::test
