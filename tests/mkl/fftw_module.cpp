// Somebody else's module that is linked to FFTW, bound lazily. See host.cpp.
#include <fftw3.h>

#include <complex>
#include <cstdio>
#include <vector>

#include "base/shared_library.hpp"

/// 0 if FFTW's functions are FFTW's and compute.
extern "C" int module_transform(const char* name) {
  std::vector<std::complex<double>> data(8);
  auto* const array = reinterpret_cast<fftw_complex*>(data.data());
  const fftw_plan plan = fftw_plan_dft_1d(8, array, array, FFTW_FORWARD, FFTW_ESTIMATE);
  data[0] = 1;
  fftw_execute_dft(plan, array, array);
  fftw_destroy_plan(plan);
  const std::string file = weft::file_of(fftw_execute_dft);
  std::printf("%s: FFTW answered from %s\n", name, file.c_str());
  return data[7] == 1.0 && file.find("libfftw3") != std::string::npos ? 0 : 1;
}
