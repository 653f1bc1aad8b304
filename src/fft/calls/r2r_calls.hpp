// DCTs and DSTs by a library of complex FFTs. For each axis a kernel copies the array to dense complex lines
// in work memory ("aside"), one call of the library transforms them in place, and a kernel copies them back,
// scaled. The kernels and calls are pure data, computed from the problem.
#pragma once

#include <optional>
#include <vector>

#include "fft/calls/cufft_calls.hpp"
#include "kernels/r2r/step.hpp"

namespace weft {

/// The steps of one axis.
struct R2rCalls {
  R2rStep before;
  std::optional<CufftCall> call;  ///< none for lines of one point
  R2rStep after;
  Index elements = 0;  ///< complex numbers in work memory
};

/// The axes of an r2r problem in the order in which they are done. The first one goes from input to output,
/// the others are in place on the output.
std::vector<R2rCalls> r2r_calls(const FftProblem& problem);

}  // namespace weft
