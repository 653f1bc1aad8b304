// A step as its calls, one for every index of its loops.
#pragma once

#include <memory>

#include "fft/calls/run_calls.hpp"

namespace weft {

/// Makes a plan for a step from a plan for its call.
std::shared_ptr<CallPlan> plan_in_loops(const CallStep& step, std::shared_ptr<CallPlan> call);

}  // namespace weft
