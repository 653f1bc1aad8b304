// Copies of lines of memory between the cache and memory that does not fit it. One kernel per instruction
// set; the best that the processor has is chosen once, at run time.
#pragma once

#include <cstddef>
#include <span>

namespace weft {

struct LineKernel {
  const char* name;
  bool (*runs_here)();
  // Any alignment, no overlap.
  /// Stores past the cache, without first reading what it overwrites: for memory that is not read again soon.
  void (*store_past)(const std::byte* from, std::byte* to, std::size_t bytes);
  /// Asks for what lies `ahead` bytes behind what it reads, where the processor would not think of it itself.
  void (*load_ahead)(const std::byte* from, std::byte* to, std::size_t bytes, std::ptrdiff_t ahead);
  /// To be called after the last `store_past` and before another thread or process is told of it.
  void (*fence)();
};

/// The fastest first; the last one runs everywhere.
std::span<const LineKernel> line_kernels();

/// The first that runs here.
const LineKernel& line_kernel();

}  // namespace weft
