// How a box lies in memory: strides per axis, in elements. A memory order gives a dense layout; layouts with
// padding or halo differ from it only in their strides.
#pragma once

#include <string>

#include "weft/box.hpp"

namespace weft {

/// The place of a box in an array.
struct Layout {
  Strides strides;
  Index offset = 0;  ///< elements from the start of the array to the first point of the box
  Index count = 0;   ///< elements of the array, with halo and padding
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// The dense layout of a box with these extents.
Layout dense_layout(const Shape& extents, const Order& order);

/// Throws `weft::Error` unless `strides` are positive and no two elements coincide: sorted by stride, each
/// axis with more than one point has to step over all that the axes with smaller strides reach. `what` names
/// the array in the message.
void check_strides(const Shape& extents, const Strides& strides, const std::string& what);

/// The axes from largest to smallest stride.
Order order_of(const Strides& strides);

/// C order for `ndim` axes: {0, 1, ..., ndim-1}.
Order c_order(int ndim);

/// Throws `weft::Error` unless `order` names each of `ndim` axes once.
void check_order(const Order& order, int ndim);

/// Strides, in elements, of a dense array with these extents whose axes vary in `order` (slowest first).
Strides dense_strides(const Shape& extents, const Order& order);

/// Number of elements from the first to the last element of an array, both included; 0 if any extent is 0.
Index span_of(const Shape& extents, const Strides& strides);

/// `order` with `axes` moved after all others (fastest), both groups keeping their relative order.
Order axes_last(const Order& order, const AxisVector<int>& axes);

/// `order` with `axis` moved in front of all others (slowest).
Order axis_first(const Order& order, int axis);

}  // namespace weft
