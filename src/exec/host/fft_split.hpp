// How a local FFT is cut into pieces that threads can compute at the same time. It is pure data, computed
// from the problem without planning anything. A piece is the same transform over a part of one loop; a
// transform without a loop long enough becomes two steps, the first of which makes one of its dimensions a
// loop, at the price of a second pass over the data.
#pragma once

#include <vector>

#include "fft/local_fft.hpp"

namespace weft {

struct FftPiece {
  FftProblem problem;
  Index from_offset = 0, to_offset = 0;  ///< bytes, to be added to the arrays of the whole
};

/// Pieces that touch different memory, so that they can be computed in any order or at the same time.
struct FftStep {
  enum class Sides {
    from_to,
    from_only,  ///< in place on the array that the whole problem reads
    to_only,    ///< in place on the one that it writes
  };
  Sides sides = Sides::from_to;
  std::vector<FftPiece> pieces;
};

/// One or two steps, each of at most `threads` pieces. With one thread, and where nothing can be cut (a
/// single line; a c2r without a loop that must keep its input), it is one step of one piece: the problem
/// itself. Pieces are as even as they can be while starting on multiples of 16 bytes if the whole does; where
/// that would leave threads idle, some are not `aligned`.
std::vector<FftStep> split_fft(const FftProblem& problem, int threads);

}  // namespace weft
