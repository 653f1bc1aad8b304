// How a box lies in memory: strides per axis, in elements. Dense layouts follow from a memory order; padded
// and tiled ones differ only in their strides.
#pragma once

#include <string>

#include "weft/box.hpp"

namespace weft {

/// How an array that holds a box lies behind the pointer to it.
struct Layout {
  Strides strides;
  Index offset = 0;  ///< elements from the pointer to the first point of the box
  Index count = 0;   ///< elements the array has, with halo and padding
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// The dense layout of a box with these extents.
Layout dense_layout(const Shape& extents, const Order& order);

/// Throws `weft::Error` unless `strides` are positive and no two elements coincide: sorted by stride, each
/// axis with more than one point has to step over all that the smaller ones reach. `what` names the array.
void check_strides(const Shape& extents, const Strides& strides, const std::string& what);

/// The axes from largest to smallest stride.
Order order_of(const Strides& strides);

/// C order for `ndim` axes: {0, 1, ..., ndim-1}.
Order c_order(int ndim);

/// Throws `weft::Error` unless `order` names each of `ndim` axes once.
void check_order(const Order& order, int ndim);

/// Strides, in elements, of a dense array with these extents whose axes vary in `order` (slowest first).
Strides dense_strides(const Shape& extents, const Order& order);

/// Number of elements from the first to one past the last element of an array; 0 if any extent is 0.
Index span_of(const Shape& extents, const Strides& strides);

/// `order` with `axes` moved behind all others (fastest), both groups keeping their relative order.
Order axes_last(const Order& order, const AxisVector<int>& axes);

/// `order` with `axis` moved in front of all others (slowest).
Order axis_first(const Order& order, int axis);

}  // namespace weft
