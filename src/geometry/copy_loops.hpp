// The loops of a copy between two strided boxes of equal extents. Axes that are contiguous with each other in
// source and destination are merged, so that kernels on every kind of processor have few and long loops.
#pragma once

#include <array>

#include "weft/axis_vector.hpp"

namespace weft {

struct CopyLoop {
  Index n, from, to;  ///< strides in elements
  friend bool operator==(const CopyLoop&, const CopyLoop&) = default;
};

/// At least one loop, from the longest stride in the destination to the shortest. If the loop with the
/// shortest stride in the source is not the innermost, it comes just before the innermost.
struct CopyLoops {
  std::array<CopyLoop, max_axes> loops{};
  int count = 0;
  bool transposes = false;  ///< the source's fastest loop is the last but one
  bool empty = false;       ///< there is nothing to copy

  CopyLoop& operator[](int i) { return loops[static_cast<std::size_t>(i)]; }
  const CopyLoop& operator[](int i) const { return loops[static_cast<std::size_t>(i)]; }
  const CopyLoop& innermost() const { return (*this)[count - 1]; }
};

CopyLoops copy_loops(const Shape& extents, const Strides& from, const Strides& to);

}  // namespace weft
