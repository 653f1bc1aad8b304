// Cuts boxes into parts that fit the cache.
#pragma once

#include <vector>

#include "weft/box.hpp"

namespace weft {

inline constexpr Index line_bytes = 64;  ///< of the cache

/// Strides of an array that is dense but for some room between rows, planes and so on whose length would send
/// the points of a line across them to few cache sets.
Strides spread_strides(const Shape& extents, const Order& order, int element_bytes);

/// An axis that is cut at multiples of so many points alone.
struct CutAtMultiples {
  int axis = -1;
  Index points = 1;
};

/// The parts of `part` that a stage works on one after the other. Axes that it does not transform are cut,
/// from the slowest of `order` on, until a part takes no more than `bytes`; along the fastest of `order` no
/// thinner than a few cache lines.
std::vector<Box> sub_tiles(const Box& part, const Order& order, const AxisVector<int>& transformed,
                           int element_bytes, Index bytes, const CutAtMultiples& multiples = {});

/// The part of `whole` that has the ranges of `part` along all axes but `free` ones, which it has whole.
Box same_cut(const Box& part, const Box& whole, const AxisVector<int>& free);

/// What of a box lies outside of another one, as boxes without common points.
std::vector<Box> outside(const Box& box, const Box& hole);

}  // namespace weft
