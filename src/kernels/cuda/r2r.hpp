// The steps of DCTs and DSTs before and after their FFT, in device memory. One thread handles one complex
// number; threads have the order of the array, so that adjacent threads access adjacent numbers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/r2r/step.hpp"

namespace weft::cuda {

/// Enqueues a step. Allocates nothing.
cudaError_t enqueue(const R2rStep& step, std::byte* to, const std::byte* from, cudaStream_t stream);

}  // namespace weft::cuda
