// The libraries found to be the fastest for transforms, kept for the whole process, so that each transform is
// tried once.
#pragma once

#include "fft/local_fft.hpp"

namespace weft {

/// The fastest library; null if the transform has not been tried.
const FftRow* known_fft_choice(const FftProblem& problem);
void remember_fft_choice(const FftProblem& problem, const FftRow& row);

}  // namespace weft
