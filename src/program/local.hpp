// Programs without reshapes: of a rank that has the whole array, or independent parts of it.
#pragma once

#include "program/builder.hpp"

namespace weft {

/// One call of the local FFT library; or, of an array that is too large for the cache, two passes over the
/// data in sub-tiles, the second one along the slowest axis.
Program build_local(const Schedule& schedule, const ProgramRequest& request);

}  // namespace weft
