// The loops of a copy between two strided boxes of equal extents: axes that are contiguous together on both
// sides are one loop, so that kernels, whatever they run on, have the fewest and longest ones.
#pragma once

#include <array>

#include "weft/axis_vector.hpp"

namespace weft {

struct CopyLoop {
  Index n, from, to;  ///< strides in elements
  friend bool operator==(const CopyLoop&, const CopyLoop&) = default;
};

/// Sorted from the longest stride (of the to side) to the shortest, at least one; but if another loop than
/// the innermost is the fast one of the source, that one comes just before the innermost.
struct CopyLoops {
  std::array<CopyLoop, max_axes> loops{};
  int count = 0;
  bool transposes = false;  ///< the two innermost loops are fast on one side each
  bool empty = false;       ///< there is nothing to copy

  CopyLoop& operator[](int i) { return loops[static_cast<std::size_t>(i)]; }
  const CopyLoop& operator[](int i) const { return loops[static_cast<std::size_t>(i)]; }
  const CopyLoop& innermost() const { return (*this)[count - 1]; }
};

CopyLoops copy_loops(const Shape& extents, const Strides& from, const Strides& to);

}  // namespace weft
