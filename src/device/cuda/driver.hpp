// The functions of the CUDA driver that its runtime has no counterpart of, found through the runtime, so that
// nothing links with the driver: a machine without one can load Weft.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>

namespace weft::cuda {

struct Driver {
  decltype(&::cuGetErrorString) error_string;
  decltype(&::cuCtxGetCurrent) current_context;
  decltype(&::cuCtxPushCurrent) push_context;
  decltype(&::cuCtxPopCurrent) pop_context;
  decltype(&::cuPointerGetAttributes) pointer_attributes;
  decltype(&::cuStreamBatchMemOp) memory_operations;
};

/// Why there is no device that can be used in this process, or nothing. The first call starts CUDA.
const std::string& missing();

/// Throws `weft::Error` if there is none.
const Driver& driver();

/// Throw `weft::Error` with CUDA's message unless the call succeeded.
void check(cudaError_t status, const char* call);
void check(CUresult status, const char* call);

}  // namespace weft::cuda
