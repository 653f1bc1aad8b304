#include "fft/calls/contiguous_lines.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fft/calls/repeated_calls.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

using Dimensions = std::vector<FftDimension>;

/// The lines of a step: the axis of a line, and all loops over lines, whether batch of the call or loop
/// around it.
struct Lines {
  FftDimension line;
  Dimensions around;  ///< the batch is the first

  explicit Lines(const CallStep& step)
      : line{step.call.n[0], step.call.from.stride, step.call.to.stride},
        around{{step.call.batch, step.call.from.distance, step.call.to.distance}} {
    around.insert(around.end(), step.loops.begin(), step.loops.end());
  }

  Index count() const {
    Index n = 1;
    for (const FftDimension& d : around) n *= d.n;
    return n;
  }

  /// A step over these lines, in all else equal to `like`.
  CallStep step(const CallStep& like) const {
    CallStep s = like;
    const FftDimension& batch = around.front();
    s.call.n = {line.n, 0, 0};
    s.call.from = {s.call.n, line.from_stride, batch.from_stride};
    s.call.to = {s.call.n, line.to_stride, batch.to_stride};
    s.call.batch = batch.n;
    s.loops.assign(around.begin() + 1, around.end());
    std::erase_if(s.loops, [](const FftDimension& d) { return d.n == 1; });
    return s;
  }
};

/// All lines of a step aside at once.
std::shared_ptr<StreamFft> plan_all_aside(const CallStep& step, const MakeCallPlan& make, double scale) {
  Lines lines(step);
  // Lines aside have the order in which they lie in the input.
  std::ranges::stable_sort(lines.around, {}, &FftDimension::from_stride);
  const Index n = lines.line.n, element = from_bytes(step.call);
  Shape extents{n};
  Strides from{lines.line.from_stride}, aside{1}, to{lines.line.to_stride};
  Index next = n;
  for (const FftDimension& d : lines.around) {
    extents.push_back(d.n);
    from.push_back(d.from_stride);
    aside.push_back(next);
    to.push_back(d.to_stride);
    next *= d.n;
  }
  const auto copy = [&](const Strides& a, const Strides& b, double factor) {
    return DeviceCopy{copy_loops(extents, a, b), static_cast<int>(element), factor,
                      static_cast<int>(real_bytes(step.call.precision))};
  };
  CufftCall call = step.call;
  call.from = call.to = {{n, 0, 0}, 1, n};
  call.batch = next / n;
  const auto all = std::make_shared<FftSequence>();
  const FftSequence::Place place = all->reserve(next * element);
  all->add(copy(from, aside, 1), FftSequence::input, place);
  all->add(make(call), place, place);
  all->add(copy(aside, to, scale), place, FftSequence::output);
  return all;
}

constexpr Index least_bytes = 1 << 20, least_lines = 32;

/// Whether cuFFT may be slow with a step, so that a trial is worth while. It may be with several calls, if
/// they are small, so that launches dominate (a GPU does a large call in 10 us), or if their lines are not
/// adjacent. Tiny calls have to be more than the launches of lines aside. It may also be with one call of
/// adjacent lines, except below 1 MiB, where launches dominate, for short lines, which fit registers, for
/// powers of two, and for few lines.
bool may_be_slow(const CallStep& step) {
  constexpr Index large = 16 << 20, launches_aside = 3, least_length = 257;
  const CufftCall& call = step.call;
  if (call.kind != FftKind::c2c || call.axes != 1 || call.from.stride == 1 || call.to.stride == 1)
    return false;
  const Index n = call.n[0], bytes = n * call.batch * from_bytes(call);
  const Index calls = Lines(step).count() / call.batch;
  const bool tiny = bytes < least_bytes, side_by_side = call.from.distance == 1 && call.to.distance == 1;
  if (calls > (tiny ? launches_aside : 1) && (bytes < large || !side_by_side)) return true;
  return side_by_side && !tiny && n >= least_length && (n & (n - 1)) != 0 && call.batch >= least_lines;
}

/// Makes the strides of one side dense, keeping their order.
void make_dense(Lines& lines, Index FftDimension::*stride) {
  std::vector<FftDimension*> all{&lines.line};
  for (FftDimension& d : lines.around) all.push_back(&d);
  std::ranges::stable_sort(all, {}, [&](const FftDimension* d) { return d->*stride; });
  Index next = 1;
  for (FftDimension* d : all) {
    d->*stride = next;
    next *= d->n;
  }
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

/// The step to be timed: about `bytes` of `step`, without gaps, of at least `least_lines` lines. It has fewer
/// calls rather than fewer lines in each. The outermost loop is rounded down to a power of two, so that steps
/// that differ only in its length share one trial.
CallStep trial_of(const CallStep& step, Index bytes) {
  Lines lines(step);
  const Index line_bytes = lines.line.n * from_bytes(step.call);
  const auto power = [](Index n) {
    return static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(n)));
  };
  std::vector<FftDimension*> all;
  for (FftDimension& d : lines.around) all.push_back(&d);
  if (step.loops.empty()) {
    cut(all, std::max(least_lines, power(std::min(bytes, step.call.batch * line_bytes)) / line_bytes));
  } else {
    const Index calls = std::clamp<Index>(bytes / (step.call.batch * line_bytes), 16, 256);
    cut({all.begin() + 1, all.end()}, calls);
    cut(all, std::max(least_lines, bytes / line_bytes));
    FftDimension& outermost = *std::ranges::max_element(lines.around, {}, &FftDimension::to_stride);
    outermost.n = power(outermost.n);
  }
  make_dense(lines, &FftDimension::from_stride);
  make_dense(lines, &FftDimension::to_stride);
  CallStep trial = lines.step(step);
  trial.sides = CallStep::Sides::from_to;
  trial.call.direction = Direction::forward;
  return trial;
}

/// The key under which the outcome of a trial is kept.
struct TrialKey {
  std::string model;
  CallStep step;
  auto operator<=>(const TrialKey&) const = default;
};

struct TrialMemory {
  std::shared_ptr<std::byte> from, to, work;
};

/// Nothing if memory does not suffice: other ranks that share the device may try at the same time.
std::optional<TrialMemory> allocate(Device& device, std::size_t bytes, std::size_t work_bytes) {
  constexpr const char* operation = "plan: trying local FFTs";
  try {
    return TrialMemory{device.allocate(bytes, operation), device.allocate(bytes, operation),
                       device.allocate(work_bytes, operation)};
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Times both in turns and compares the shortest times.
bool is_first_slower(Device& device, StreamFft& first, StreamFft& second, const TrialMemory& memory,
                     std::size_t bytes) {
  constexpr double worth_it = 1.1;
  const auto stream = device.make_stream();
  const auto begin = device.make_event(true), end = device.make_event(true);
  stream->fill(memory.from.get(), 0, bytes);
  std::array best{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  constexpr int turns = 4;
  for (int turn = 0; turn < turns; ++turn)
    for (const std::size_t i : {0, 1}) {
      stream->record(*begin);
      (i == 0 ? first : second).enqueue(*stream, memory.from.get(), memory.to.get(), memory.work.get());
      stream->record(*end);
      device.wait_for(*end);
      // The first turn loads kernels and does not count.
      if (turn > 0) best[i] = std::min(best[i], device.seconds_between(*begin, *end));
    }
  return best[0] > worth_it * best[1];
}

}  // namespace

std::shared_ptr<StreamFft> plan_lines_aside(const CallStep& step, const MakeCallPlan& make,
                                            std::size_t most_work, double scale) {
  // `plan_in_parts` cuts the batch, so the longest loop becomes the batch.
  Lines lines(step);
  std::swap(lines.around.front(), *std::ranges::max_element(lines.around, {}, &FftDimension::n));
  const CallStep longest = lines.step(step);
  const MakeCallPlan aside = [&](const CufftCall& call) {
    CallStep part = longest;
    part.call = call;
    return plan_all_aside(part, make, scale);
  };
  return plan_in_parts(longest.call, aside, most_work);
}

bool are_lines_faster_aside(Device& device, const CallStep& step, const MakeCallPlan& make) {
  if (!may_be_slow(step)) return false;
  // Two arrays, and work areas of about two more. The plan and other ranks will allocate memory later.
  constexpr double of_what_is_free = 0.25, arrays = 4, most_bytes = 256 << 20;
  const auto most = static_cast<Index>(std::min(most_bytes, of_what_is_free / arrays * device.free_bytes()));
  Index size = static_cast<Index>(most_bytes);
  while (size > most && size > least_bytes) size /= 2;
  const TrialKey key{device.model(), trial_of(step, size)};
  static std::mutex mutex;
  static std::map<TrialKey, bool> known;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  const Index needed = Lines(key.step).count() * step.call.n[0] * from_bytes(step.call);
  if (needed > most) return false;
  // The lock is not held, so that threads of other devices can try at the same time.
  const auto plain = plan_in_loops(key.step, make(key.step.call));
  const auto aside = plan_lines_aside(key.step, make, std::numeric_limits<std::size_t>::max(), 1);
  const auto bytes = static_cast<std::size_t>(needed);
  const auto memory = allocate(device, bytes, std::max(plain->work_bytes(), aside->work_bytes()));
  if (!memory) return false;
  const bool faster = is_first_slower(device, *plain, *aside, *memory, bytes);
  const std::lock_guard lock(mutex);
  return known.emplace(key, faster).first->second;
}

}  // namespace weft
