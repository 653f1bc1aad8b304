// A local FFT of arrays in device memory: enqueued on a stream, with memory that its caller provides.
#pragma once

#include <cstddef>
#include <set>

#include "device/device.hpp"

namespace weft {

/// Where in work memory something else may begin behind so many bytes.
inline std::size_t work_aligned(Index bytes) {
  return static_cast<std::size_t>((bytes + 255) / 256 * 256);
}

class StreamFft {
 public:
  virtual ~StreamFft() = default;
  /// Device memory that it needs beside the arrays, on a multiple of 256 bytes.
  virtual std::size_t work_bytes() const = 0;
  /// Enqueues the transform; `work` is its own until that is done. Allocates nothing. Not by two threads at a
  /// time.
  virtual void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work) = 0;

  std::set<Index> lengths_aside;  ///< of lines that are copied aside and transformed there; for printed plans
};

}  // namespace weft
