// The names of the FFT library for GPUs: cuFFT's, or those of hipFFT, which has the same functions with
// another prefix.
#pragma once

#include <string>

#if defined(WEFT_WITH_HIP)

#include <hipfft/hipfft.h>
#define WEFT_FFT(name) hipfft##name
#define WEFT_FFT_CODE(name) HIPFFT_##name
#define WEFT_FFT_NAME(name) "hipfft" #name

namespace weft::gpus {
inline constexpr const char* fft_name = "hipfft";
inline constexpr int inverse = HIPFFT_BACKWARD;
inline std::string fft_version(int number) {
  return "hipFFT " + std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}
}  // namespace weft::gpus

#else

#include <cufftXt.h>
#define WEFT_FFT(name) cufft##name
#define WEFT_FFT_CODE(name) CUFFT_##name
#define WEFT_FFT_NAME(name) "cufft" #name

namespace weft::gpus {
inline constexpr const char* fft_name = "cufft";
inline constexpr int inverse = CUFFT_INVERSE;
inline std::string fft_version(int number) {
  return "cuFFT " + std::to_string(number / 1000) + "." + std::to_string(number / 100 % 10) + "." +
         std::to_string(number % 100);
}
}  // namespace weft::gpus

#endif
