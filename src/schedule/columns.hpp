// Schedules of modes that are given by columns (Distribution::columns, after SpFFT's sticks): planes across
// axis 0, whole on their rank, are transformed to the modes of all columns; these are exchanged; and each
// rank transforms along axis 0 the columns that it has.
#pragma once

#include "schedule/planner.hpp"

namespace weft {

/// Of a request with columns and nothing between. Throws `weft::Error` for what needs other grids than slabs.
Schedule through_planes(const ScheduleRequest& request);

}  // namespace weft
