#include "serial.hpp"

#include <dlfcn.h>
#include <fftw3.h>

#include <cstdio>
#include <cstdlib>

namespace weft::fftw3_mpi {

namespace {

/// Where the object that holds an address was loaded, and its name.
Dl_info object_of(const void* address) {
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0) return {};
  return info;
}

}  // namespace

std::string library_in_front(Precision precision) {
  const bool is_double = precision == Precision::float64;
  const Dl_info called = object_of(dlsym(RTLD_DEFAULT, is_double ? "fftw_execute" : "fftwf_execute"));
  // Nobody wraps this one, as profilers do execute: where it is, FFTW is.
  const Dl_info fftw = object_of(dlsym(RTLD_DEFAULT, is_double ? "fftw_alignment_of" : "fftwf_alignment_of"));
  return called.dli_fbase != nullptr && called.dli_fbase == fftw.dli_fbase ? called.dli_fname : "";
}

void* behind(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::fprintf(stderr,
                 "weft: fftw3-mpi: there is no %s behind libweft_fftw3_mpi: link FFTW as a shared library\n",
                 name);
    std::abort();
  }
  return found;
}

int planner_threads(Precision precision) {
  return precision == Precision::float64 ? fftw_planner_nthreads() : fftwf_planner_nthreads();
}

void set_planner_threads(Precision precision, int threads) {
  precision == Precision::float64 ? fftw_plan_with_nthreads(threads) : fftwf_plan_with_nthreads(threads);
}

}  // namespace weft::fftw3_mpi
