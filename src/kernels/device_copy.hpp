// Strided copies in device memory, as data, for kernels and the device interface.
#pragma once

#include <cstddef>
#include <memory>

#include "geometry/copy_loops.hpp"
#include "kernels/coded_loops.hpp"

namespace weft {

/// A copy of which one side is coded in rows.
struct DeviceCoding {
  CodedRequest request;
  CodedLoops loops;
  CodingFault fault;  ///< in memory that the device and the host use
  bool leaves;        ///< the result is in memory of another device
  DeviceCoding(const CodedRequest& r, const CodingFault& f, bool leaves_device = false)
      : request(r), loops(r), fault(f), leaves(leaves_device) {}
};

/// A copy between strided boxes. With a factor other than 1, an element is one or two real numbers; else
/// elements are opaque.
struct DeviceCopy {
  CopyLoops loops;
  int element_bytes = 0;  ///< 4, 8 or 16; source and destination start on multiples of it
  double factor = 1;
  int real_bytes = 8;
  std::shared_ptr<const DeviceCoding> coded = nullptr;  ///< says all of a copy that codes; nothing else does
};

/// A copy with its addresses.
struct DeviceCopyJob {
  std::byte* to;
  const std::byte* from;
  const DeviceCopy* copy;
};

}  // namespace weft
