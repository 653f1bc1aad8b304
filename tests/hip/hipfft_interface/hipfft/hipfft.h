// Declarations of what Weft uses of hipFFT, after its documented interface: types and functions, and nothing
// to link. Where hipFFT itself is not installed, as on Debian 12, its local FFT is compiled against this.
#pragma once

#include <hip/hip_complex.h>
#include <hip/hip_runtime_api.h>

#include <cstddef>

extern "C" {

using hipfftHandle = struct hipfftHandle_t*;
using hipfftReal = float;
using hipfftDoubleReal = double;
using hipfftComplex = hipComplex;
using hipfftDoubleComplex = hipDoubleComplex;

enum hipfftResult {
  HIPFFT_SUCCESS,
  HIPFFT_INVALID_PLAN,
  HIPFFT_ALLOC_FAILED,
  HIPFFT_INVALID_TYPE,
  HIPFFT_INVALID_VALUE,
  HIPFFT_INTERNAL_ERROR,
  HIPFFT_EXEC_FAILED,
  HIPFFT_SETUP_FAILED,
  HIPFFT_INVALID_SIZE,
  HIPFFT_INVALID_DEVICE = 11,
  HIPFFT_NOT_SUPPORTED = 16
};
enum hipfftType { HIPFFT_C2C, HIPFFT_R2C, HIPFFT_C2R, HIPFFT_Z2Z, HIPFFT_D2Z, HIPFFT_Z2D };
inline constexpr int HIPFFT_FORWARD = -1, HIPFFT_BACKWARD = 1;

hipfftResult hipfftCreate(hipfftHandle* plan);
hipfftResult hipfftDestroy(hipfftHandle plan);
hipfftResult hipfftSetAutoAllocation(hipfftHandle plan, int allocates);
hipfftResult hipfftMakePlanMany64(hipfftHandle plan, int axes, long long* n, long long* from_embed,
                                  long long from_stride, long long from_distance, long long* to_embed,
                                  long long to_stride, long long to_distance, hipfftType type,
                                  long long batch, std::size_t* work_bytes);
hipfftResult hipfftSetStream(hipfftHandle plan, hipStream_t stream);
hipfftResult hipfftSetWorkArea(hipfftHandle plan, void* work);
hipfftResult hipfftExecC2C(hipfftHandle plan, hipfftComplex* from, hipfftComplex* to, int direction);
hipfftResult hipfftExecR2C(hipfftHandle plan, hipfftReal* from, hipfftComplex* to);
hipfftResult hipfftExecC2R(hipfftHandle plan, hipfftComplex* from, hipfftReal* to);
hipfftResult hipfftExecZ2Z(hipfftHandle plan, hipfftDoubleComplex* from, hipfftDoubleComplex* to,
                           int direction);
hipfftResult hipfftExecD2Z(hipfftHandle plan, hipfftDoubleReal* from, hipfftDoubleComplex* to);
hipfftResult hipfftExecZ2D(hipfftHandle plan, hipfftDoubleComplex* from, hipfftDoubleReal* to);
hipfftResult hipfftGetVersion(int* version);

}  // extern "C"
