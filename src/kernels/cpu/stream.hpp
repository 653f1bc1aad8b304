// Copies past the cache: stores that do not first read what they overwrite, for memory that is not read again
// soon. One kernel per instruction set; the best that the processor has is chosen once, at run time.
#pragma once

#include <cstddef>
#include <span>

namespace weft {

struct StreamKernel {
  const char* name;
  bool (*runs_here)();
  /// Copies `bytes` bytes; any alignment, no overlap.
  void (*copy)(const std::byte* from, std::byte* to, std::size_t bytes);
  /// To be called after the last copy and before another thread or process is told of it.
  void (*fence)();
};

/// The fastest first; the last one runs everywhere.
std::span<const StreamKernel> stream_kernels();

/// The first that runs here.
const StreamKernel& stream_kernel();

}  // namespace weft
