// Schedules of a real line whose modes 0 to n/2 are given in their order (ADR 0046). The first FFT is r2c, so
// that the second one finds half of the columns. Of their modes one half is in its place; the other one is
// conjugates of those that belong in the other columns. Both travel as two halves, and where the first axis
// is whole again, a last stage joins them.
#pragma once

#include "schedule/planner.hpp"

namespace weft {

/// Of a request whose second axis of the line is r2c. Throws as `make_schedule`.
Schedule through_halves(const ScheduleRequest& request);

}  // namespace weft
