// The steps of a real line whose first modes are given (`Halves`): splitting the modes of an FFT in two
// halves, and joining the halves. With the line of n = n0 n1 points, modes k = k0 + n0 k1 and m1 = n1/2+1:
//
//     split   half 0 at (k0, k1) = X(k0, k1), half 1 = conj X(k0, n1-1-k1), for k0 <= n0/2 and k1 < m1
//     join    X(k0, k1) = half 0 at (k0, k1) for k0 <= n0/2, half 1 at (n0-k0, k1) for k0 > n0/2
//
// as X(n0-k0, k1) is the mode n - (k0 + n0 (n1-1-k1)). Backward needs only the modes up to n/2.
#pragma once

#include <vector>

#include "fft/blocks/block_steps.hpp"

namespace weft {

/// An axis of a part of a block: the line's second one, or another. Strides in bytes.
struct HalvesAxis {
  int number;  ///< of the global array
  Index n;     ///< of the part; of the line's second axis all of its points
  Index user_stride, work_stride;
  bool is_line;
};

/// Between a part of the array of halves, which begins so many bytes behind the start of it, and all modes in
/// work memory. `in`: from the array.
void split_halves(const ResizedProblem& problem, bool in, const std::vector<HalvesAxis>& axes,
                  Index user_offset, Index work_offset, double scale, std::vector<BlockStep>& steps);

/// The steps of a block that joins halves, or, backward, makes halves again.
BlockSteps write_join(const ResizedProblem& problem, const std::vector<ResizedLoop>& loops);

}  // namespace weft
