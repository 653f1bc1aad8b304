// From a prediction to what an explanation says of it.
#pragma once

#include "api/predicted_trials.hpp"

namespace weft {

void explain_prediction(Explanation& explanation, const PredictedDesign& predicted);

}  // namespace weft
