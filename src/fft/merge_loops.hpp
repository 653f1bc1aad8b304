// Merges loops over strided data. Every loop that a library does not run itself costs calls, so few long
// loops are best.
#pragma once

#include <vector>

#include "fft/local_fft.hpp"

namespace weft {

/// The same loops without those of length one. Two loops are merged if one continues the other in input and
/// output. Sorted from the shortest output stride to the longest.
std::vector<FftDimension> merge_loops(std::vector<FftDimension> loops);

}  // namespace weft
