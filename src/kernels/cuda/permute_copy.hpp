// Copies between any two strided boxes in device memory, by kernels: the loops that a copy has once its axes
// are merged, up to four of them in a launch. Where the fastest axes of the two sides differ, tiles go
// through shared memory, so that both sides are read and written in long runs; else as many elements as fit
// 16 bytes are moved together. Elements can be multiplied on the way.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "geometry/copy_loops.hpp"

namespace weft::cuda {

struct PermuteCopy {
  CopyLoops loops;
  int element_bytes = 0;  ///< 4, 8 or 16; both sides lie on multiples of it
  double factor = 1;
  int real_bytes = 8;  ///< of the numbers that are multiplied: an element is one or two of them
};

/// Enqueues it. Allocates nothing.
cudaError_t enqueue(const PermuteCopy& copy, std::byte* to, const std::byte* from, cudaStream_t stream);

}  // namespace weft::cuda
