// A box is the part of a global index space that one rank holds: a half-open range [lo, hi) on every axis.
#pragma once

#include <iosfwd>
#include <string>

#include "weft/axis_vector.hpp"
#include "weft/export.hpp"

namespace weft {

/// The indices i with lo[a] <= i[a] < hi[a] on every axis a.
struct Box {
  /// First index, and one past the last, per axis.
  Shape lo, hi;

  /// Number of axes.
  int ndim() const noexcept { return lo.size(); }
  /// Length along one axis; the lengths along all axes.
  Index extent(int axis) const { return hi[axis] - lo[axis]; }
  WEFT_API Shape extents() const;
  /// Number of points; 0 for an empty box.
  WEFT_API Index count() const;
  /// Whether the box has no points.
  WEFT_API bool empty() const;
  /// Whether all points of the other box are in this one.
  WEFT_API bool contains(const Box& other) const;

  /// The box of all indices of an array of this shape.
  WEFT_API static Box whole(const Shape& shape);

  friend bool operator==(const Box&, const Box&) = default;
};

/// The common part of two boxes with equally many axes; an empty box if they have no point in common.
WEFT_API Box intersect(const Box& a, const Box& b);

/// "[0:4, 8:16, 0:32)"
WEFT_API std::string to_string(const Box& box);
WEFT_API std::ostream& operator<<(std::ostream& out, const Box& box);

}  // namespace weft
