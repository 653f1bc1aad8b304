// Copies of contiguous bytes for arrays larger than the cache: with non-temporal stores or with prefetches.
// One kernel per instruction set; the best that the processor has is chosen once, at run time.
#pragma once

#include <cstddef>
#include <span>

namespace weft {

struct LineKernel {
  const char* name;
  bool (*runs_here)();
  // Any alignment, no overlap.
  /// Copies with non-temporal stores, which bypass the cache and do not read what they overwrite: for memory
  /// that is not read again soon.
  void (*store_past)(const std::byte* from, std::byte* to, std::size_t bytes);
  /// Copies and prefetches `ahead` bytes further on, for access patterns that the processor does not
  /// prefetch.
  void (*load_ahead)(const std::byte* from, std::byte* to, std::size_t bytes, std::ptrdiff_t ahead);
  /// Must be called after the last `store_past`, before another thread or process learns that the data are
  /// there.
  void (*fence)();
};

/// All kernels, the fastest first. The last one runs on every processor.
std::span<const LineKernel> line_kernels();

/// The fastest kernel that runs on this processor.
const LineKernel& line_kernel();

}  // namespace weft
