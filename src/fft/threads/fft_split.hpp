// Cuts a local FFT into pieces that threads can compute at the same time. The pieces are pure data, computed
// from the problem; nothing is planned here. A piece is the same transform over a part of one loop. A
// transform without a long enough loop becomes two steps, in each of which another dimension is a loop, at
// the price of a second pass over the data.
#pragma once

#include <vector>

#include "fft/local_fft.hpp"

namespace weft {

struct FftPiece {
  FftProblem problem;
  Index from_offset = 0, to_offset = 0;  ///< bytes from the start of the whole problem's arrays
};

/// Pieces that access different memory, so that they can be computed in any order or at the same time.
struct FftStep {
  enum class Sides {
    from_to,
    from_only,  ///< in place on the whole problem's input
    to_only,    ///< in place on its output
  };
  Sides sides = Sides::from_to;
  std::vector<FftPiece> pieces;
};

/// One or two steps, each of at most `threads` pieces. With one thread, and where nothing can be cut (a
/// single line; a c2r without a loop that must keep its input), the result is one step with the problem
/// itself as its only piece. Pieces of an aligned problem start on multiples of 16 bytes and are as even as
/// that allows; where it would leave threads idle, some are not `aligned`.
std::vector<FftStep> split_fft(const FftProblem& problem, int threads);

}  // namespace weft
