// Plans of one transform, timed in turns on memory that is allocated for it.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "fft/stream_fft.hpp"

namespace weft {

struct TimedPlan {
  std::shared_ptr<StreamFft> plan;
  double handicap;         ///< what its time is multiplied by before it is compared
  std::size_t copied = 0;  ///< bytes of its output that are copied afterwards, as the other plans need not
};

/// The number of the plan with the shortest time on arrays of so many bytes, filled with zeros; nothing if
/// memory does not suffice. The thread has entered the device.
std::optional<std::size_t> fastest_plan(Device& device, std::span<const TimedPlan> plans, std::size_t bytes);

}  // namespace weft
