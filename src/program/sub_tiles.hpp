// Cuts boxes into parts that fit the cache.
#pragma once

#include <vector>

#include "weft/box.hpp"

namespace weft {

inline constexpr Index line_bytes = 64;  ///< of the cache

/// The parts of `part` that a stage works on one after the other. Axes that it does not transform are cut,
/// from the slowest of `order` on, until a part takes no more than `bytes`; along the fastest of `order` no
/// thinner than a few cache lines, and at multiples of `unit` points.
std::vector<Box> sub_tiles(const Box& part, const Order& order, const AxisVector<int>& transformed,
                           int element_bytes, Index bytes, Index unit = 1);

/// The part of `whole` that has the ranges of `part` along all axes but `free` ones, which it has whole.
Box same_cut(const Box& part, const Box& whole, const AxisVector<int>& free);

}  // namespace weft
