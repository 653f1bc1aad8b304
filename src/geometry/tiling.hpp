// A tiling: the boxes of all ranks, which together cover an index space once. Regular tilings are kept as a
// grid and find the ranks that overlap a box by arithmetic, so that planning for many thousand ranks stays
// cheap. Irregular tilings keep their boxes and scan them.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "geometry/grid.hpp"
#include "weft/box.hpp"

namespace weft {

struct Overlap {
  int rank;
  Box box;
};

class Tiling {
 public:
  /// The even splits of `shape` over `grid`; ranks beyond the grid's cells hold empty boxes.
  static Tiling from_grid(const Shape& shape, const Grid& grid, int ranks);
  /// Any boxes, one per rank, which `check_tiling` has accepted. If they are the even split of a grid, that
  /// grid is kept instead.
  static Tiling from_boxes(const Shape& shape, std::vector<Box> boxes);

  const Shape& shape() const { return shape_; }
  int ranks() const { return ranks_; }
  Box box(int rank) const;
  /// The grid, if this is the even split of one.
  const std::optional<Grid>& grid() const { return grid_; }

  /// Ranks whose box meets `box`, in ascending order, with the common part.
  std::vector<Overlap> overlaps(const Box& box) const;
  /// How many these are. Of a regular tiling no rank is looked at.
  Index count_overlaps(const Box& box) const;
  /// Whether every rank that holds points holds whole lines along `axis`.
  bool is_local(int axis) const;
  /// Number of ranks without points.
  int idle_ranks() const;
  /// The same boxes on a shape whose `axis` (local here) has `extent` points.
  Tiling with_extent(int axis, Index extent) const;

  /// The same boxes with one more axis, the last, which every rank with points holds whole.
  Tiling with_axis(Index extent) const;

  /// "slab 4x1x1", "pencil 2x3x1", "brick 2x2x2", "whole" or "boxes"; if axis `batch_axis` is a batch also
  /// "slab 4x1x1, batch cut in 2" or "batch cut in 8". Without axis `left_out`.
  std::string name(int batch_axis = -1, int left_out = -1) const;

  friend bool operator==(const Tiling& a, const Tiling& b);

 private:
  /// The first and the last cell of the grid that `box`, which has points, meets.
  std::array<AxisVector<int>, 2> cells_of(const Box& box) const;

  Shape shape_;
  int ranks_ = 0;
  std::optional<Grid> grid_;
  std::vector<Box> boxes_;  // only without a grid
};

using TilingPtr = std::shared_ptr<const Tiling>;

/// Throws `weft::Error` unless `boxes`, one per rank, lie inside `shape`, do not overlap and leave no hole.
/// `what` ("input", "output") names them in the message, which ends with `hint`, if given. Boxes that would
/// tile the array with inclusive corners get a hint of that.
void check_tiling(const std::string& what, const Shape& shape, const std::vector<Box>& boxes,
                  const std::string& hint);

}  // namespace weft
