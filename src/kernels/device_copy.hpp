// Strided copies in device memory, as data, for kernels and the device interface.
#pragma once

#include <cstddef>

#include "geometry/copy_loops.hpp"

namespace weft {

/// A copy between strided boxes. With a factor other than 1, an element is one or two real numbers; else
/// elements are opaque.
struct DeviceCopy {
  CopyLoops loops;
  int element_bytes = 0;  ///< 4, 8 or 16; source and destination start on multiples of it
  double factor = 1;
  int real_bytes = 8;
};

/// A copy with its addresses.
struct DeviceCopyJob {
  std::byte* to;
  const std::byte* from;
  const DeviceCopy* copy;
};

}  // namespace weft
