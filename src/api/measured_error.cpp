// The error that codecs make, measured: this plan and one that differs in nothing but codecs transform the
// same data. Both results are held, and all of them compared, which takes less time than a transform.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "api/plan_impl.hpp"
#include "comm/agree.hpp"
#include "geometry/copy_loops.hpp"
#include "weft/buffer.hpp"

namespace weft {

namespace {

constexpr const char* operation = "measured error";

/// Of what a rank holds. The square of any double is a finite number of this type, where it is a longer one.
struct Sums {
  long double difference = 0, norm = 0;             ///< sums of squares
  long double largest_difference = 0, largest = 0;  ///< squares
};

/// An element is `Count` real numbers.
template <class Real, int Count>
void compare(const CopyLoops& loops, int depth, const Real* exact, const Real* coded, Sums& sums) {
  const CopyLoop& loop = loops[depth];
  for (Index i = 0; i < loop.n; ++i, exact += loop.from * Count, coded += loop.from * Count) {
    if (depth + 1 < loops.count) {
      compare<Real, Count>(loops, depth + 1, exact, coded, sums);
      continue;
    }
    long double difference = 0, norm = 0;
    for (int k = 0; k < Count; ++k) {
      const long double size = exact[k], d = coded[k] - size;
      difference += d * d;
      norm += size * size;
    }
    sums.difference += difference;
    sums.norm += norm;
    sums.largest_difference = std::max(sums.largest_difference, difference);
    sums.largest = std::max(sums.largest, norm);
  }
}

Sums compare(const UserArray& array, Index batch, Precision precision, const std::byte* exact,
             const std::byte* coded) {
  Shape extents = array.box.extents();
  if (array.layout.strides.size() > extents.size()) extents.push_back(batch);
  const CopyLoops loops = copy_loops(extents, array.layout.strides, array.layout.strides);
  Sums sums;
  if (loops.empty) return sums;
  const auto as = [&]<class Real>(Real) {
    const auto* const a = reinterpret_cast<const Real*>(exact);
    const auto* const b = reinterpret_cast<const Real*>(coded);
    if (array.element == Element::real)
      compare<Real, 1>(loops, 0, a + array.layout.offset, b + array.layout.offset, sums);
    else
      compare<Real, 2>(loops, 0, a + 2 * array.layout.offset, b + 2 * array.layout.offset, sums);
  };
  if (precision == Precision::float64)
    as(double());
  else
    as(float());
  return sums;
}

double ratio(long double difference, long double norm) {
  return static_cast<double>(difference == 0 && norm == 0 ? 0 : std::sqrt(difference / norm));
}

/// The same without codecs, with memory of its own. Padded parts may have room in the workspace only as long
/// as they are coded: nothing is padded.
Design exact(Design design, const Setting& setting) {
  const auto dense = std::find_if(setting.offers.begin(), setting.offers.end(),
                                  [](const Offer& offer) { return offer.name == "alltoallv"; });
  for (std::vector<Leg>& legs : design.legs)
    for (Leg& leg : legs) {
      leg.codec = {};
      if (leg.traits.form != Form::padded) continue;
      leg.exchange = dense->name;
      leg.traits = dense->traits;
    }
  design.memory.users_workspace = false;
  return design;
}

}  // namespace

Accuracy PlanImpl::measured_error(Direction direction, const void* in, Type type) {
  CommImpl& c = comm.impl();
  c.check_alive(operation);
  Accuracy accuracy{.bound = codec_error(design(), direction)};
  if (accuracy.bound == 0) return accuracy;
  const bool forward = direction == Direction::forward, in_place = problem.in_place;
  const UserArray &from = arrays[forward ? 0 : 1], &to = arrays[forward ? 1 : 0];
  std::array<Buffer<std::byte>, 2> results;  // exact, and of this plan
  Buffer<std::byte> workspace;
  BoundProblem twin;
  planning(c, [&] {
    together(c, operation, [&] {
      if (problem.between != Between::none)
        throw Error(operation, "a plan with an operator between two transforms", "a plan of one transform",
                    comm.rank());
      if (devices.mine)
        throw Error(operation, "arrays in memory of a GPU", "arrays on the host", comm.rank());
      for (Buffer<std::byte>& result : results)
        result = Buffer<std::byte>(in_place ? std::max(from.bytes, to.bytes) : to.bytes);
      if (wishes.users_workspace.value)
        workspace = Buffer<std::byte>(static_cast<std::size_t>(users_workspace));
      void* const out = in_place ? const_cast<void*>(in) : results[1].data();
      check_arrays(direction, {in, out, workspace.data(), workspace.size(), type, Type::any});
    });
    const Options none;
    Wishes without = wishes;
    without.codec.value = {Codec()};
    without.tolerance.value.reset();
    without.users_workspace.value = false;
    Setting found = setting;
    twin = bind({comm, problem, none, without, devices}, without, found, exact(design(), setting), true);
  });
  for (const std::size_t i : {0, 1}) {
    std::byte* const out = results[i].data();
    if (in_place && from.bytes > 0) std::memcpy(out, in, from.bytes);
    BoundPlan& plan = i == 0 ? *twin.plan : *bound;
    plan.start(direction, in_place ? out : in, out, workspace.data());
    plan.advance(Patience::wait);
  }
  Sums all;
  for (const Sums& of_rank :
       all_of(c, compare(to, problem.batch, problem.precision, results[0].data(), results[1].data()))) {
    all.difference += of_rank.difference;
    all.norm += of_rank.norm;
    all.largest_difference = std::max(all.largest_difference, of_rank.largest_difference);
    all.largest = std::max(all.largest, of_rank.largest);
  }
  accuracy.l2 = ratio(all.difference, all.norm);
  if (leaves_out(design(), direction)) {
    const std::byte* const given = static_cast<const std::byte*>(in);
    long double norm = 0;
    for (const Sums& of_rank :
         all_of(c, compare(from, arrays_of(problem, direction), problem.precision, given, given)))
      norm += of_rank.norm;
    accuracy.bound = codec_error_of_input(design(), direction) * ratio(norm, all.norm);
  }
  // Comparisons have passed over what is no number.
  accuracy.maximum = std::isnan(accuracy.l2) ? accuracy.l2 : ratio(all.largest_difference, all.largest);
  return accuracy;
}

void PlanImpl::refuse_measuring(Direction direction, const Error& why) const {
  CommImpl& c = comm.impl();
  c.check_alive(operation);
  if (codec_error(design(), direction) != 0)
    planning(c, [&] { together(c, operation, [&] { throw why; }); });  // as the first step of measuring
  throw Error(why);
}

}  // namespace weft
