// Chooses the schedule: a shortest path over (distribution, axes already transformed), where the
// distributions are the user's own and the regular grids of the allowed decompositions. The cost is compared
// in this order: sixteenths of the ranks left without points, reshapes, messages per rank, points sent per
// rank; so a reshape that moves nothing never occurs, slabs win over pencils while there are enough planes,
// and grids are lined up with the user's. Bricks, where they are asked for, are put between the pencils
// afterwards.
#pragma once

#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace weft {

enum class Decomposition { automatic, slab, pencil, brick };

struct ScheduleRequest {
  Shape shape;
  AxisVector<Transform> transforms;
  Element element = Element::complex;  ///< of the input; real anyway if an axis is r2c
  int ranks = 1;
  /// Only the first so many ranks transform and hold points between input and output (grid shrinking,
  /// multi-gpu-fft-performance, Algorithm 1); 0: all.
  int computing_ranks = 0;
  TilingPtr input, output;  ///< null: fastest
  int batch_axis = -1;      ///< an axis that may be cut between input and output only; -1: none
  std::vector<Order> input_orders,
      output_orders;  ///< one for all, one per rank, or empty (only with fastest)
  Decomposition decomposition = Decomposition::automatic;
  /// Of pencils: into how many parts the two axes are cut, in either order; empty: near-square, as the user's
  /// own pencils are, or so that all ranks have points.
  AxisVector<int> pencil_grid;
  /// Whether the axes of a local FFT are made the fastest ones by the reshape before it, or lie as they come.
  bool contiguous = true;
  /// If they lie as they come: whether axes that several ranks share become the slowest ones, so that lines
  /// across planes touch few pages and cache sets. A GPU does better with long runs of equal lines.
  bool shared_axes_first = true;
};

/// The forward schedule. Throws `weft::Error` if none exists: a one-dimensional array over several ranks, or
/// pencils of an array with fewer than three axes.
Schedule make_schedule(const ScheduleRequest& request);

/// The tiling that a named distribution stands for. `fastest` gives null. Throws `weft::Error` for an axis
/// out of range, too few axes, or a grid that does not fit.
TilingPtr named_tiling(const Distribution& distribution, const Shape& shape, int ranks, const char* what);

/// The schedule with a grid of bricks, cut along all of the first three axes, between every two fields that
/// are not the user's own: twice the reshapes, each among few ranks (multi-gpu-fft-performance, "bricks
/// decomposition"). Of a schedule of at least three axes; `make_schedule` refuses others.
Schedule through_bricks(const Schedule& schedule, const ScheduleRequest& request);

}  // namespace weft
