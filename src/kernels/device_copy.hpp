// Strided copies in the memory of devices, as data: what kernels carry out, and the device seam is asked for.
#pragma once

#include <cstddef>

#include "geometry/copy_loops.hpp"

namespace weft {

/// A copy between strided boxes. Elements are opaque unless the factor is not 1: then they are one or two
/// real numbers.
struct DeviceCopy {
  CopyLoops loops;
  int element_bytes = 0;  ///< 4, 8 or 16; both sides lie on multiples of it
  double factor = 1;
  int real_bytes = 8;
};

/// Such a copy from one place to another.
struct DeviceCopyJob {
  std::byte* to;
  const std::byte* from;
  const DeviceCopy* copy;
};

}  // namespace weft
