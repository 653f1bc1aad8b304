// Which library was found to be the fastest for a transform, for all of the process, so that it is tried
// once.
#pragma once

#include "fft/local_fft.hpp"

namespace weft {

/// Null if the transform has not been tried.
const FftRow* known_fft_choice(const FftProblem& problem);
void remember_fft_choice(const FftProblem& problem, const FftRow& row);

}  // namespace weft
