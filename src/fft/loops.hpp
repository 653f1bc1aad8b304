// Loops over strided data, around what a library does in one call. Every loop that a library does not run
// itself costs calls, so few long loops are best.
#pragma once

#include <span>
#include <vector>

#include "fft/local_fft.hpp"

namespace weft {

/// The same loops without those of length one. Two loops are merged if one continues the other in input and
/// output. Sorted from the shortest output stride to the longest.
std::vector<FftDimension> merge_loops(std::vector<FftDimension> loops);

/// Makes the strides of one side dense, keeping their order.
void make_dense(std::vector<FftDimension*> dimensions, Index FftDimension::*stride);

/// Calls `f` with both positions for every index of the loops, of which the first is the outermost. A
/// position is a number or an address.
template <class From, class To, class F>
void for_each_index(std::span<const FftDimension> loops, From from, To to, const F& f) {
  if (loops.empty()) return f(from, to);
  const FftDimension& loop = loops.front();
  for (Index i = 0; i < loop.n; ++i)
    for_each_index(loops.subspan(1), from + i * loop.from_stride, to + i * loop.to_stride, f);
}

}  // namespace weft
