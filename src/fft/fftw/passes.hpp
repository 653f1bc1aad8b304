// Transforms along several axes of a block that the cache holds, as one call of FFTW for each axis, each from
// one memory to another: of the block and of work memory beside it.
//
// Without trials FFTW transforms in place wherever both sides are one memory, along the second axis also
// where they are not, and lines whose lengths have few factors of two in rows. Each takes it up to twice as
// long as it has to. What trials find by measuring (FFTW_MEASURE) is as fast as these calls.
#pragma once

#include <functional>
#include <memory>

#include "fft/local_fft.hpp"

namespace weft::fftw {

/// Whether FFTW's estimate takes longer in place than from one memory to another. All but powers of two do,
/// if they are not short.
bool is_slow_in_place(Index n);
/// Whether FFTW's estimate takes longer for contiguous lines than for those that lie side by side: of 36, 54,
/// 90, 108 and 144 points up to twice as long, of 40, 64, 72 and 96 points half as long.
bool is_slow_in_rows(Index n);

/// Plans a transform by one call of FFTW.
using Make = std::function<std::unique_ptr<const LocalFft>(const FftProblem&)>;

/// `make` is asked for transforms along one axis, or two. Null for a problem that is better left to FFTW as a
/// whole.
std::shared_ptr<const LocalFft> plan_in_passes(const FftProblem& problem, const Make& make);

}  // namespace weft::fftw
