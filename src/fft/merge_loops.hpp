// Loops over strided data, made as few and as long as they can be. Back ends pay for every loop that their
// library does not run itself.
#pragma once

#include <vector>

#include "fft/local_fft.hpp"

namespace weft {

/// The same loops without those of length one; two that follow each other on both sides are one. Sorted from
/// the shortest stride (of the to side) to the longest.
std::vector<FftDimension> merge_loops(std::vector<FftDimension> loops);

}  // namespace weft
