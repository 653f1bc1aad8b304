// Tells the program how far trials are; see weft/trial_progress.hpp.
#pragma once

#include "weft/trial_progress.hpp"

namespace weft {

/// Calls the program's function, if there is one.
void tell(const TrialProgress& progress);

}  // namespace weft
