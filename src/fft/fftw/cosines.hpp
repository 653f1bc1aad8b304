// DCTs and DSTs of types II and III by FFTW's r2c and c2r of the same length. FFTW's own use no vector
// instructions for real data, and without trials take 1.5 to 2.4 times as long.
#pragma once

#include <memory>

#include "fft/local_fft.hpp"

namespace weft::fftw {

/// A plan for an r2r problem; null if it has another type along any of its axes, or lines too short or
/// too long.
std::shared_ptr<const LocalFft> plan_cosines(const FftProblem& problem, unsigned flags);

}  // namespace weft::fftw
