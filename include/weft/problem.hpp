// What is to be computed: the global array, the transform along each axis, the precision, and who holds which
// part before and after. A problem is a plain value; nothing is checked or computed before a Plan is made
// from it.
#pragma once

#include <vector>

#include "weft/box.hpp"

namespace weft {

/// The transform along one axis. Forward is exp(-2 pi i jk/n), backward exp(+2 pi i jk/n), neither scaled:
/// forward followed by backward multiplies by the product of the transformed lengths.
enum class Transform {
  none,  ///< the axis is left alone
  c2c,   ///< complex to complex
  r2c,   ///< real to complex: n real points become n/2+1 complex ones; on at most one axis; backward is c2r
};

enum class Precision { float32, float64 };

/// Who holds which part of an array, and in which memory order.
///
/// A named distribution is resolved when a plan is made: even splits, the larger parts first; ranks without
/// points hold an empty box. The memory order lists the axes from slowest to fastest varying; the default is
/// C order. Each rank may use an order of its own.
class Distribution {
 public:
  enum class Kind { slab, pencil, brick, grid, boxes, box, fastest };

  /// Cut along `axis` alone.
  static Distribution slab(int axis);
  /// Whole lines along `local_axis`; cut along the first two of the other axes, as near to square as
  /// possible. Needs three axes.
  static Distribution pencil(int local_axis);
  /// Cut along the first three axes (both axes of an array with two), smallest surface per rank.
  static Distribution brick();
  /// Cut into parts[a] parts along axis a; rank numbers run through the grid in C order. The parts multiply
  /// to at most the number of ranks.
  static Distribution grid(AxisVector<int> parts);
  /// Any boxes that tile the array, one per rank, in rank order, the same list on every rank. Boxes may be
  /// empty.
  static Distribution boxes(std::vector<Box> of_all_ranks);
  /// The calling rank's own box; the boxes of all ranks are gathered and must tile the array.
  static Distribution box(Box of_this_rank);
  /// Whatever makes the transform fastest, boxes and memory order alike: `Plan::output_box` and
  /// `output_order` tell. With `with_order` only the boxes are left to the plan.
  static Distribution fastest();

  /// The same distribution with another memory order on the calling rank.
  Distribution with_order(Order order) const;

  Kind kind() const { return kind_; }
  int axis() const { return axis_; }
  const AxisVector<int>& parts() const { return parts_; }
  const std::vector<Box>& box_list() const { return boxes_; }
  /// Empty: C order, or with `fastest` whatever is fastest.
  const Order& order() const { return order_; }

 private:
  Kind kind_ = Kind::slab;
  int axis_ = 0;
  AxisVector<int> parts_;
  std::vector<Box> boxes_;
  Order order_;
};

struct Problem {
  /// Global lengths, 1 to 8 axes, the logical (real) ones for r2c. Distributed transforms need at least 2
  /// axes.
  Shape shape;
  /// One per axis; empty: c2c along every axis.
  AxisVector<Transform> transforms;
  Precision precision = Precision::float64;
  /// Of the array before forward (after backward). Tiles `shape`.
  Distribution input = Distribution::slab(0);
  /// Of the array after forward (before backward). Tiles `shape`, with n/2+1 points along an r2c axis.
  Distribution output = Distribution::slab(0);
  /// Forward and backward are called with one array, large enough for the larger of input and output.
  bool in_place = false;
};

}  // namespace weft
