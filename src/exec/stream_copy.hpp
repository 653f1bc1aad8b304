// A copy of a program on a stream: by a kernel, or, where few long rows go to another device, by what copies
// there without keeping processors busy.
#pragma once

#include "device/device.hpp"
#include "program/program.hpp"

namespace weft {

class StreamCopy {
 public:
  StreamCopy(const CopyCall& call, int real_bytes);

  void enqueue(DeviceStream& stream, std::byte* to, const std::byte* from) const;
  /// Whether it is rows that are copied and not a kernel that runs.
  bool by_rows() const { return by_rows_; }

 private:
  bool fits_rows(const CopyCall& call) const;

  DeviceCopy copy_;
  bool by_rows_ = false;
  DeviceRows rows_;
  Index planes_ = 1, from_plane_ = 0, to_plane_ = 0;  ///< so many times rows, bytes between them
};

}  // namespace weft
