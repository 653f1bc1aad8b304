// The steps of DCTs and DSTs before and behind their FFT, in device memory: a thread for each complex number,
// in the order in which they lie in the array, so that neighbours read and write neighbours.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/r2r/step.hpp"

namespace weft::cuda {

/// Enqueues it. Allocates nothing.
cudaError_t enqueue(const R2rStep& step, std::byte* to, const std::byte* from, cudaStream_t stream);

}  // namespace weft::cuda
