#include "fft/calls/timed_plans.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/device_copy.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

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

DeviceCopy copy_of(std::size_t bytes) {
  constexpr Index unit = 2 * sizeof(double);
  return {copy_loops({static_cast<Index>(bytes) / unit}, {1}, {1}), unit, 1, sizeof(double)};
}

}  // namespace

std::optional<std::size_t> fastest_plan(Device& device, std::span<const TimedPlan> plans, std::size_t bytes) {
  std::size_t work_bytes = 0;
  for (const TimedPlan& p : plans) work_bytes = std::max(work_bytes, p.plan->work_bytes());
  const auto memory = allocate(device, bytes, work_bytes);
  if (!memory) return std::nullopt;
  const auto stream = device.make_stream();
  const auto begin = device.make_event(true), end = device.make_event(true);
  stream->fill(memory->from.get(), 0, bytes);
  std::vector<double> best(plans.size(), std::numeric_limits<double>::infinity());
  constexpr int turns = 4;
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const TimedPlan& timed = plans[i];
      stream->record(*begin);
      timed.plan->enqueue(*stream, memory->from.get(), memory->to.get(), memory->work.get());
      if (timed.copied > 0) stream->permute(memory->from.get(), memory->to.get(), copy_of(timed.copied));
      stream->record(*end);
      device.wait_for(*end);
      // The first turn loads kernels and does not count.
      if (turn > 0) best[i] = std::min(best[i], timed.handicap * device.seconds_between(*begin, *end));
    }
  return static_cast<std::size_t>(std::ranges::min_element(best) - best.begin());
}

}  // namespace weft
