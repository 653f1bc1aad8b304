// The functions of weft/fftw3-mpi.h, and those that FFTW's interface for Fortran binds to: the same with a
// communicator of Fortran's and names that end with _f03.
#include <cstdio>

#include "communicators.hpp"
#include "local_size.hpp"
#include "plan.hpp"
#include "weft/fftw3-mpi.h"
#include "weft/wisdom.hpp"
#include "wisdom.hpp"

using namespace weft::fftw3_mpi;

namespace {

/// A plan as FFTW's type of plans, which nobody looks into.
template <class Handle>
Handle as(MarkedPlan* plan) {
  return reinterpret_cast<Handle>(plan);
}

void execute(const void* handle, void* in, void* out) {
  if (MarkedPlan* const plan = MarkedPlan::of(handle)) return plan->execute(in, out);
  std::fputs("weft: fftw3-mpi: execute: a plan that is not of this library\n", stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void clean_up() {
  weft::forget_wisdom();
  forget_communicators();
}

}  // namespace

extern "C" {

#define NAME(name) fftw_##name
#define REAL double
#define PRECISION weft::Precision::float64

#define MPI_NAME(name) fftw_mpi_##name
#define COMMUNICATOR MPI_Comm
#define HANDLE(comm) comm
#include "calls.inc"
#include "local_calls.inc"
#undef MPI_NAME
#undef COMMUNICATOR
#undef HANDLE

#define MPI_NAME(name) fftw_mpi_##name##_f03
#define COMMUNICATOR MPI_Fint
#define HANDLE(comm) MPI_Comm_f2c(comm)
#include "calls.inc"
#undef MPI_NAME
#undef COMMUNICATOR
#undef HANDLE

#undef NAME
#undef REAL
#undef PRECISION
#define NAME(name) fftwf_##name
#define REAL float
#define PRECISION weft::Precision::float32

#define MPI_NAME(name) fftwf_mpi_##name
#define COMMUNICATOR MPI_Comm
#define HANDLE(comm) comm
#include "calls.inc"
#include "local_calls.inc"
#undef MPI_NAME
#undef COMMUNICATOR
#undef HANDLE

#define MPI_NAME(name) fftwf_mpi_##name##_f03
#define COMMUNICATOR MPI_Fint
#define HANDLE(comm) MPI_Comm_f2c(comm)
#include "calls.inc"
}
