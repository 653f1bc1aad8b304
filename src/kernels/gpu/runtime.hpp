// The names of the GPUs' runtime, CUDA's or HIP's, for code that serves both. HIP has CUDA's functions with
// another prefix: WEFT_GPU(EventRecord) is cudaEventRecord or hipEventRecord. What has two names in spite of
// that has a third one here; what works differently is in device/gpu/maker.hpp.
#pragma once

#if defined(WEFT_WITH_HIP)

#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#else
#include <hip/hip_runtime_api.h>
#endif
#define WEFT_GPU(name) hip##name
#define WEFT_GPU_NAME(name) "hip" #name
/// In front of a parameter that kernels read where it is, without a copy in registers or on a stack.
#define WEFT_GRID_CONSTANT

namespace weft::gpus {
using Properties = hipDeviceProp_t;
/// The most shared memory of a block of threads, which kernels have to be allowed to use.
inline constexpr auto most_shared_memory = hipDeviceAttributeMaxSharedMemoryPerBlock;
}  // namespace weft::gpus

#else

#include <cuda_runtime_api.h>
#define WEFT_GPU(name) cuda##name
#define WEFT_GPU_NAME(name) "cuda" #name
#define WEFT_GRID_CONSTANT __grid_constant__

namespace weft::gpus {
using Properties = cudaDeviceProp;
inline constexpr auto most_shared_memory = cudaDevAttrMaxSharedMemoryPerBlockOptin;
}  // namespace weft::gpus

#endif

namespace weft::gpus {

using Status = WEFT_GPU(Error_t);
using StreamHandle = WEFT_GPU(Stream_t);

inline constexpr Status success = WEFT_GPU(Success), invalid_value = WEFT_GPU(ErrorInvalidValue),
                        invalid_configuration = WEFT_GPU(ErrorInvalidConfiguration);

/// The status of the last call or launch that failed in this thread, which is forgotten.
inline Status last_status() {
  return WEFT_GPU(GetLastError)();
}

}  // namespace weft::gpus
