// The part of cuFFTMp that the benchmark calls, by function pointers that are found at run time, so that
// neither building nor starting it needs cuFFTMp. cuFFTMp has all of cuFFT's functions under cuFFT's names. A
// plan of one library means nothing to the other, so the functions here are all cuFFTMp's.
#pragma once

#include <cufft.h>
#include <cufftXt.h>

#include "weft/comm.hpp"

namespace weft::bench::cufftmp {

/// What `comm` of `attach` points to: an MPI communicator.
inline constexpr int of_mpi = 0;

struct Functions {
  decltype(&::cufftCreate) create;
  decltype(&::cufftDestroy) destroy;
  decltype(&::cufftSetStream) set_stream;
  decltype(&::cufftGetVersion) version;
  decltype(&::cufftMakePlan3d) make_plan;
  decltype(&::cufftXtMalloc) allocate;
  decltype(&::cufftXtFree) free;
  decltype(&::cufftXtExec) execute;
  /// The functions that cuFFT does not have. Boxes and strides are of this rank, in elements of their side.
  cufftResult (*attach)(cufftHandle plan, int kind, void* comm);
  cufftResult (*set_boxes)(cufftHandle plan, int axes, const long long* input_lo, const long long* input_hi,
                           const long long* output_lo, const long long* output_hi,
                           const long long* input_strides, const long long* output_strides);
  /// How the arrays lie that a transform forward and one backward are given.
  cufftResult (*set_formats)(cufftHandle plan, cufftXtSubFormat forward, cufftXtSubFormat backward);
};

/// Looks for cuFFTMp's library and opens it, the first time. Collective. Throws `weft::Error` on all ranks if
/// one of them does not find it.
const Functions& find(const Comm& comm);

}  // namespace weft::bench::cufftmp
