#include "device/cuda/range.hpp"

#include <nvtx3/nvToolsExt.h>

namespace weft::cuda {

void begin_range(const char* name) {
  nvtxRangePushA(name);
}

void end_range() {
  nvtxRangePop();
}

}  // namespace weft::cuda
