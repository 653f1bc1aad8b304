// A strided copy on a stream: by a kernel, or, where few long rows leave the device, by what copies there
// without keeping processors busy.
#pragma once

#include <limits>
#include <vector>

#include "device/device.hpp"

namespace weft {

/// From how many bytes on rows are copied without a kernel: below, a kernel is faster. Within a device it
/// always is; between it and the host a single row never needs one.
inline constexpr Index rows_within_device = std::numeric_limits<Index>::max(), rows_to_peer = 64 * 1024,
                       rows_to_host = 0;

/// The copy of a strided box to where it is packed, dense with its axes in this order, or back from there.
DeviceCopy packing(const Shape& extents, const Strides& strides, const Order& order, int element_bytes);
DeviceCopy unpacking(const Shape& extents, const Strides& strides, const Order& order, int element_bytes);

class StreamCopy {
 public:
  StreamCopy(const DeviceCopy& copy, Index least_bytes_by_rows);

  void enqueue(DeviceStream& stream, std::byte* to, const std::byte* from) const;
  /// The same; what kernels do only joins the others that the caller is going to ask for.
  void enqueue(DeviceStream& stream, std::byte* to, const std::byte* from,
               std::vector<DeviceCopyJob>& jobs) const;

 private:
  bool fits_rows(Index least_bytes) const;
  void enqueue_rows(DeviceStream& stream, std::byte* to, const std::byte* from) const;

  DeviceCopy copy_;
  bool by_rows_ = false;
  DeviceRows rows_;
  Index planes_ = 1, from_plane_ = 0, to_plane_ = 0;  ///< so many times rows, bytes between them
};

}  // namespace weft
