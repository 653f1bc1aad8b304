// Copies between any two strided boxes of equal extents: packing, unpacking, putting and permuting. Axes that
// are contiguous together on both sides are merged while planning, so that execution runs the fewest and
// longest loops.
#pragma once

#include <array>
#include <cstddef>

#include "weft/axis_vector.hpp"

namespace weft {

/// A planned copy. Strides are in elements.
class PermuteCopy {
 public:
  PermuteCopy(const Shape& extents, const Strides& from, const Strides& to, int element_bytes);

  void run(const std::byte* from, std::byte* to) const;

  /// Loops left after merging.
  int loops() const { return count_; }

 private:
  struct Loop {
    Index n, from, to;
  };

  template <class Word>
  void run_as(const Word* from, Word* to) const;
  template <class Word, class Inner>
  void outer_loops(const Word* from, Word* to, int inner, const Inner& body) const;

  std::array<Loop, max_axes> loops_{};  ///< outermost first
  int count_ = 0;
  int element_bytes_;
  bool transposes_ = false;  ///< the two innermost loops are fast on one side each
  bool empty_ = false;
};

}  // namespace weft
