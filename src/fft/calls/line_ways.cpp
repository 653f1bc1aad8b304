#include "fft/calls/line_ways.hpp"

#include <algorithm>
#include <bit>
#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fft/calls/contiguous_lines.hpp"
#include "fft/calls/repeated_calls.hpp"
#include "fft/calls/step_lines.hpp"
#include "fft/calls/strided_lines.hpp"
#include "fft/calls/timed_plans.hpp"
#include "fft/calls/two_passes.hpp"
#include "fft/loops.hpp"

namespace weft {

namespace {

constexpr Index least_bytes = 1 << 20, least_lines = 32;

/// Of a line, on the side where it takes more.
Index line_bytes(const CufftCall& call) {
  const Index complex = 2 * real_bytes(call.precision);
  return call.kind == FftKind::real ? (call.n[0] / 2 + 1) * complex : call.n[0] * complex;
}

/// Calls of a step, and bytes of one.
struct Size {
  Index calls, bytes;
};
Size size_of(const CallStep& step) {
  return {StepLines(step).count() / step.call.batch, step.call.batch * line_bytes(step.call)};
}

/// Whether lines aside may be faster than cuFFT. They may be with several calls, if they are small, so that
/// launches dominate (a GPU does a large call in 10 us), or if their lines are not adjacent. Tiny calls have
/// to be more than the launches of lines aside. They may also be with one call of adjacent lines, except
/// below 1 MiB, where launches dominate, for short lines, which fit registers, for powers of two, and for few
/// lines.
bool may_be_aside(const CallStep& step) {
  constexpr Index large = 16 << 20, launches_aside = 3, least_length = 257;
  const CufftCall& call = step.call;
  const auto [calls, bytes] = size_of(step);
  const bool tiny = bytes < least_bytes, side_by_side = call.from.distance == 1 && call.to.distance == 1;
  if (calls > (tiny ? launches_aside : 1) && (bytes < large || !side_by_side)) return true;
  const Index n = call.n[0];
  return side_by_side && !tiny && n >= least_length && (n & (n - 1)) != 0 && call.batch >= least_lines;
}

/// Whether kernels may be faster than cuFFT: with lines whose points lie apart, unless it is one call that is
/// tiny; with rows that are several calls; with those of real numbers also if their length is no power of
/// two; and with any lines if they also do what would be several copies.
bool may_be_kernels(const CallStep& step, bool apart) {
  const auto [calls, bytes] = size_of(step);
  const auto n = static_cast<std::uint64_t>(step.call.n[0]);
  if (step.call.kind == FftKind::real)
    return (calls > 1 || (!std::has_single_bit(n) && bytes >= least_bytes)) && kernels_can_real_rows(step);
  if (step.diverted.pieces > 1 && kernels_can_divert(step)) return true;
  if (!apart) return calls > 1 && kernels_can_rows(step);
  return (calls > 1 || bytes >= least_bytes || step.diverted.pieces > 1) && kernels_can(step);
}

/// Whether two passes of kernels may be faster than cuFFT: with lines that are too long for one pass, or as
/// long as one takes.
bool may_be_passes(const CallStep& step) {
  return step.call.n[0] >= LineStep::most_points && size_of(step).bytes >= least_bytes && passes_can(step);
}

/// Shortens loops, the outermost first, until they have at most `most` indices in all.
void cut(std::vector<FftDimension*> loops, Index most) {
  std::ranges::stable_sort(loops, std::greater(), [](const FftDimension* d) { return d->to_stride; });
  Index count = 1;
  for (const FftDimension* d : loops) count *= d->n;
  for (FftDimension* d : loops) {
    const Index others = count / d->n;
    d->n = std::clamp<Index>(most / others, 1, d->n);
    count = others * d->n;
  }
}

/// Whether a side has the modes of real lines.
bool has_modes(const CufftCall& call, Index FftDimension::*stride) {
  return call.kind == FftKind::real &&
         (stride == &FftDimension::from_stride) != (call.direction == Direction::forward);
}

/// The step to be timed: about `bytes` of `step`, without gaps, of at least `least_lines` lines. It has fewer
/// calls rather than fewer lines in each. The outermost loop is rounded down to a power of two, so that steps
/// that differ only in its length share one trial.
CallStep trial_of(const CallStep& step, Index bytes) {
  StepLines lines(step);
  const Index bytes_of_line = line_bytes(step.call);
  const auto power = [](Index n) {
    return static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(n)));
  };
  std::vector<FftDimension*> all;
  for (FftDimension& d : lines.around) all.push_back(&d);
  if (step.loops.empty()) {
    cut(all, std::max(least_lines, power(std::min(bytes, step.call.batch * bytes_of_line)) / bytes_of_line));
  } else {
    const Index calls = std::clamp<Index>(bytes / (step.call.batch * bytes_of_line), 16, 256);
    cut({all.begin() + 1, all.end()}, calls);
    cut(all, std::max(least_lines, bytes / bytes_of_line));
    FftDimension& outermost = *std::ranges::max_element(lines.around, {}, &FftDimension::to_stride);
    outermost.n = power(outermost.n);
  }
  all.insert(all.begin(), &lines.line);
  const Index n = lines.line.n;
  for (const auto stride : {&FftDimension::from_stride, &FftDimension::to_stride}) {
    lines.line.n = has_modes(step.call, stride) ? n / 2 + 1 : n;
    make_dense(all, stride);
  }
  lines.line.n = n;
  lines.line.diverted_stride = 0;
  for (FftDimension& d : lines.around) d.diverted_stride = 0;
  CallStep trial = lines.step(step);
  trial.sides = CallStep::Sides::from_to;
  trial.diverted = {};
  if (step.call.kind == FftKind::c2c) trial.call.direction = Direction::forward;
  return trial;
}

/// The key under which the outcome of a trial is kept. Steps that differ in gaps have the same trial, but
/// perhaps not the same ways.
struct TrialKey {
  std::string model;
  CallStep step;
  bool kernels, aside, passes;
  Index diverted;  ///< modes
  auto operator<=>(const TrialKey&) const = default;
};

}  // namespace

LineWay fastest_way(Device& device, const CallStep& step, const MakeCallPlan& make) {
  const CufftCall& call = step.call;
  if (call.kind == FftKind::r2r || call.axes != 1) return LineWay::calls;
  const bool real = call.kind == FftKind::real, apart = call.from.stride != 1 && call.to.stride != 1;
  const bool aside = !real && apart && may_be_aside(step), kernels = may_be_kernels(step, apart);
  const bool passes = !real && may_be_passes(step);
  if (!aside && !kernels && !passes) return LineWay::calls;
  // Two arrays, and work areas of about two more. The plan and other ranks will allocate memory later.
  constexpr double of_what_is_free = 0.25, arrays = 4, most_bytes = 256 << 20;
  const auto most = static_cast<Index>(std::min(most_bytes, of_what_is_free / arrays * device.free_bytes()));
  Index size = static_cast<Index>(most_bytes);
  while (size > most && size > least_bytes) size /= 2;
  const Index diverted = kernels && kernels_can_divert(step) ? step.diverted.count : 0;
  const TrialKey key{device.model(), trial_of(step, size), kernels, aside, passes, diverted};
  static std::mutex mutex;
  static std::map<TrialKey, LineWay> known;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  const Index needed = StepLines(key.step).count() * line_bytes(call);
  if (needed > most) return LineWay::calls;
  // The lock is not held, so that threads of other devices can try at the same time. What is no call needs a
  // table or more memory, and has to be worth it. Where a trial finds kernels 1.02 times as fast, calls can
  // still be faster in a plan: behind an exchange of 256^3 in single precision the whole takes 0.181 ms with
  // cuFFT and 0.203 with kernels (two H200).
  constexpr double worth_a_table = 1.05, worth_memory = 1.1;
  std::vector<LineWay> ways{LineWay::calls};
  const auto copied = static_cast<std::size_t>(needed / call.n[0] * diverted);
  std::vector<TimedPlan> plans{{plan_in_loops(key.step, make(key.step.call)), 1, copied}};
  if (kernels) {
    ways.push_back(LineWay::kernels);
    plans.push_back({plan_strided_lines(device, key.step, 1), worth_a_table});
  }
  if (aside) {
    ways.push_back(LineWay::aside);
    plans.push_back(
        {plan_lines_aside(key.step, make, std::numeric_limits<std::size_t>::max(), 1), worth_memory, copied});
  }
  if (passes) {
    ways.push_back(LineWay::passes);
    plans.push_back({plan_lines_in_passes(device, key.step, std::numeric_limits<std::size_t>::max(), 1),
                     worth_memory, copied});
  }
  const auto fastest = fastest_plan(device, plans, static_cast<std::size_t>(needed));
  if (!fastest) return LineWay::calls;
  const std::lock_guard lock(mutex);
  return known.emplace(key, ways[*fastest]).first->second;
}

}  // namespace weft
