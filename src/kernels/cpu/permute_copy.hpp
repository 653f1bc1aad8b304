// Copies between any two strided boxes of equal extents: packing, unpacking, putting and permuting. Axes that
// are contiguous together on both sides are merged while planning, so that execution runs the fewest and
// longest loops. A copy can multiply what it copies, which saves a pass over the data, and can be done in
// slices by several threads.
#pragma once

#include <cstddef>

#include "geometry/copy_loops.hpp"

namespace weft {

/// How elements are copied.
struct CopyManner {
  /// What they are multiplied by. The size of the real numbers in them is only looked at if the factor is not
  /// 1; without one, elements are opaque.
  double factor = 1;
  int real_bytes = 8;  ///< 8 or 4; an element is one or two of them
  // Of lines that are copied as they are, one at most; otherwise without meaning.
  bool store_past = false;  ///< past the cache: what is written is not read again soon
  bool load_ahead = false;  ///< what is read lies in memory
};

/// A planned copy. Strides are in elements.
class PermuteCopy {
 public:
  PermuteCopy(const Shape& extents, const Strides& from, const Strides& to, int element_bytes,
              const CopyManner& manner = {});

  void run(const std::byte* from, std::byte* to) const;

  /// One of `parts` nearly equal slices, some of which may be empty; together they are `run`. Slices write
  /// different elements and may be done at the same time. Allocates nothing.
  void run_part(const std::byte* from, std::byte* to, int part, int parts) const;

  /// Loops left after merging.
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
