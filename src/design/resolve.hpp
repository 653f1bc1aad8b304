// From a problem and what the ranks gave to what the planner of schedules is asked.
#pragma once

#include "design/setting.hpp"
#include "schedule/planner.hpp"
#include "weft/problem.hpp"

namespace weft {

/// Checks the boxes and names the distributions; the request has one axis more for a batch. Throws
/// `weft::Error`.
ScheduleRequest resolve(const Problem& problem, const Gathered& given, int ranks);

/// A batch is one axis more, the last one, and the slowest in memory.
void add_batch(ScheduleRequest& request, Index batch);

}  // namespace weft
