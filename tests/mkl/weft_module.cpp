// Weft's back ends as Python loads them: in a module of their own, opened at run time. See host.cpp.
#include <complex>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/environment.hpp"
#include "fft/local_fft.hpp"

/// A transform by the named back end: 0 if it is right, 1 if not, 77 if the back end is missing (and may be).
extern "C" int module_transform(const char* name) {
  const weft::FftRow row = std::strcmp(name, "mkl") == 0 ? weft::mkl_row() : weft::fftw_row();
  if (const std::string missing = row.missing(); !missing.empty()) {
    std::printf("%s: %s\n", name, missing.c_str());
    return std::strcmp(name, "mkl") == 0 && weft::environment_value("WEFT_TEST_MKL") != "required" ? 77 : 1;
  }
  weft::FftProblem problem;
  problem.dimensions = {{8, 1, 1}};
  std::vector<std::complex<double>> in(8), out(8);
  in[0] = 1;  // an impulse becomes a constant
  row.plan(problem)->execute(in.data(), out.data(), nullptr);
  return out == std::vector<std::complex<double>>(8, 1.0) ? 0 : 1;
}
