// NVTX ranges, which Nsight Systems shows. NVTX looks for a profiler in the first call, which happens while
// planning. Without a profiler, later calls cost one comparison.
#pragma once

namespace weft::cuda {

void begin_range(const char* name);
void end_range();

}  // namespace weft::cuda
