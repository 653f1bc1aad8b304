// A strided copy on a stream: by copy engines where it is few long rows that leave the device, else by a
// kernel.
#pragma once

#include <limits>
#include <vector>

#include "device/device.hpp"

namespace weft {

/// The least bytes of a copy by copy engines. Smaller copies are faster by a kernel.
inline constexpr Index rows_within_device = std::numeric_limits<Index>::max(), rows_to_peer = 64 * 1024,
                       rows_to_host = 0;

/// The copy of a strided box to a dense box with its axes in this order, and the copy back.
DeviceCopy packing(const Shape& extents, const Strides& strides, const Order& order, int element_bytes);
DeviceCopy unpacking(const Shape& extents, const Strides& strides, const Order& order, int element_bytes);

class StreamCopy {
 public:
  StreamCopy(const DeviceCopy& copy, Index least_bytes_by_rows);

  void enqueue(DeviceStream& stream, std::byte* to, const std::byte* from) const;
  /// The same, but a copy by a kernel is only appended to `jobs`, which the caller enqueues together.
  void enqueue(DeviceStream& stream, std::byte* to, const std::byte* from,
               std::vector<DeviceCopyJob>& jobs) const;

 private:
  bool fits_rows(Index least_bytes) const;
  void enqueue_rows(DeviceStream& stream, std::byte* to, const std::byte* from) const;

  DeviceCopy copy_;
  bool by_rows_ = false;
  DeviceRows rows_;
  Index calls_ = 1;                    ///< each of `rows_`
  Index from_call_ = 0, to_call_ = 0;  ///< bytes from one call to the next
};

}  // namespace weft
