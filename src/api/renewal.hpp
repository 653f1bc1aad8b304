// How a plan outlives the loss of a network. An execution under way ends in an error on all ranks that have a
// part in it, and leaves the plan broken on each as it hears of it. Before the next execution of the plan the
// ranks meet in a reduction of the plan's own: each gives how its last execution has ended, and how many it
// has completed. If nothing else was wrong they plan again.
#pragma once

#include <atomic>

#include "schedule/schedule.hpp"

namespace weft {

namespace detail {
/// Seconds that a rank waits for the others. Tests wait for less.
extern std::atomic<double> patience_of_meetings;
}  // namespace detail

/// Whether what the user's arrays hold, and what an operator is given between two transforms, lies alike.
bool lie_alike(const Schedule& a, const Schedule& b);

}  // namespace weft
