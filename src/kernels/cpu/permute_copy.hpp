// Copies between two strided boxes of equal extents: for packing, unpacking, putting and permuting. Axes that
// are contiguous with each other in source and destination are merged while planning, so that loops are few
// and long. A copy can multiply its elements, which saves a pass over the data, and several threads can share
// it.
#pragma once

#include <cstddef>

#include "geometry/copy_loops.hpp"

namespace weft {

/// How elements are copied.
struct CopyManner {
  /// The factor of the elements. Only if it is not 1 does the size of their real numbers matter; else
  /// elements are opaque.
  double factor = 1;
  int real_bytes = 8;  ///< 8 or 4; an element is one or two of them
  // For copies of contiguous lines with factor 1, at most one of these; ignored otherwise.
  bool store_past = false;  ///< non-temporal stores: what is written is not read again soon
  bool load_ahead = false;  ///< prefetches: what is read is not in the cache
};

/// A planned copy. Strides are in elements.
class PermuteCopy {
 public:
  PermuteCopy(const Shape& extents, const Strides& from, const Strides& to, int element_bytes,
              const CopyManner& manner = {});

  void run(const std::byte* from, std::byte* to) const;

  /// Does one of `parts` nearly equal slices of `run`; some may be empty. Slices write different elements and
  /// may run at the same time. Allocates nothing.
  void run_part(const std::byte* from, std::byte* to, int part, int parts) const;

  /// Number of loops after merging.
  int loops() const { return loops_.count; }

 private:
  template <class F>
  void with_size(const F& f) const;
  std::ptrdiff_t ahead() const;
  int loop_to_cut(int parts) const;
  Index unit_of(int loop) const;
  template <class Move>
  void run_with(const std::byte* from, std::byte* to, const Move& move) const;
  template <class Word, class Inner>
  void outer_loops(const Word* from, Word* to, int inner, const Inner& body) const;

  CopyLoops loops_;
  int element_bytes_;
  CopyManner manner_;
};

}  // namespace weft
