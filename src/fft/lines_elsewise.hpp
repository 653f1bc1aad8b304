// Lines that are not transformed by the library where they lie, for printed plans.
#pragma once

#include <set>

#include "weft/axis_vector.hpp"

namespace weft {

/// Lengths of lines.
struct LinesElsewise {
  std::set<Index> aside;       ///< copied to work memory, transformed there, and copied back
  std::set<Index> by_kernels;  ///< of Weft
  bool in_planes = false;      ///< of two axes in one launch
  bool diverts = false;        ///< what stays on a rank is stored where it is read next
  bool puts = false;           ///< and what peers get is stored in their workspaces
  bool packs = false;          ///< what peers get is stored where messages are packed
  friend bool operator==(const LinesElsewise&, const LinesElsewise&) = default;
  void add(const LinesElsewise& other) {
    aside.insert(other.aside.begin(), other.aside.end());
    by_kernels.insert(other.by_kernels.begin(), other.by_kernels.end());
    in_planes = in_planes || other.in_planes;
    diverts = diverts || other.diverts;
    puts = puts || other.puts;
    packs = packs || other.packs;
  }
};

}  // namespace weft
