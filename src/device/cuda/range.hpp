// Ranges of NVTX, which Nsight Systems shows. Its headers look for a profiler in the first call, in planning;
// without one, a call is a comparison.
#pragma once

namespace weft::cuda {

void begin_range(const char* name);
void end_range();

}  // namespace weft::cuda
