// Schedules that pass through the other side of a transform (Problem::between): the half that goes there is
// planned as any schedule; the way back is its inverse. Where both meet, the last FFT of the one and the
// first of the other are one stage, with the operator between them, so that no array is stored there.
#pragma once

#include "schedule/planner.hpp"

namespace weft {

/// Of a request with something between. Throws as `make_schedule`.
Schedule there_and_back(const ScheduleRequest& request);

}  // namespace weft
