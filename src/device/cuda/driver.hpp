// Functions of the CUDA driver that have no counterpart in the runtime. They are looked up through the
// runtime and not linked, so that a machine without a driver can load Weft.
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

/// Why this process has no device that can be used; empty if it has one. The first call initialises CUDA.
const std::string& missing();

/// Throws `weft::Error` if no device can be used.
const Driver& driver();

/// Throw `weft::Error` with CUDA's message unless the call succeeded.
void check(cudaError_t status, const char* call);
void check(CUresult status, const char* call);

}  // namespace weft::cuda
