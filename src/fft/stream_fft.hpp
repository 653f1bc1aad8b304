// A local FFT of arrays in device memory. It is enqueued on a stream, with work memory from its caller.
#pragma once

#include <cstddef>

#include "base/arithmetic.hpp"
#include "device/device.hpp"
#include "fft/fft_context.hpp"
#include "fft/lines_elsewise.hpp"

namespace weft {

/// `bytes` rounded up to the alignment of parts of work memory.
inline std::size_t work_aligned(Index bytes) {
  return static_cast<std::size_t>(rounded_up<Index>(bytes, 256));
}

class StreamFft {
 public:
  virtual ~StreamFft() = default;
  /// Bytes of work memory that it needs, at a multiple of 256 bytes.
  virtual std::size_t work_bytes() const = 0;
  /// Enqueues the transform, which uses `work` until it is done. Allocates nothing. Only one thread at a time
  /// may call. An operator of the `context` enqueues its own work meanwhile.
  virtual void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work,
                       const FftContext& context) = 0;
  void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work) {
    enqueue(stream, from, to, work, {});
  }

  LinesElsewise elsewise;
  /// Whether it stores modes elsewhere that are asked for: at `FftContext::diverted`, and not in the output.
  bool diverts = false;
  /// Whether it leaves the output alone if all modes are stored elsewhere.
  bool spares_output = false;
};

}  // namespace weft
