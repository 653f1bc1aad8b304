// Whether the user's arrays are what a plan needs, before any byte moves.
#pragma once

#include "api/plan_impl.hpp"

namespace weft {

/// Throws `weft::Error` if an execution with these arrays is a mistake.
void check_arrays(const PlanImpl& plan, Direction direction, const PlanImpl::Arrays& arrays);

/// The same of one rank alone: the error says that others may wait.
void check_arrays_alone(const PlanImpl& plan, Direction direction, const PlanImpl::Arrays& arrays);

}  // namespace weft
