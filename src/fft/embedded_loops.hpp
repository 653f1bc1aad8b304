// A step as its calls, one after the other.
#pragma once

#include <memory>

#include "fft/embedded_fft.hpp"

namespace weft {

/// A plan for a step out of one for its call, which is started for every index of the step's loops.
std::shared_ptr<EmbeddedPlan> plan_in_loops(const EmbeddedStep& step, std::shared_ptr<EmbeddedPlan> call);

}  // namespace weft
