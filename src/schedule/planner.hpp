// Chooses the schedule: a shortest path over (distribution, axes already transformed), where the
// distributions are the user's own and the regular grids of the allowed decompositions. The cost is compared
// in this order: sixteenths of the ranks left without points, reshapes, messages per rank, points sent per
// rank; so a reshape that moves nothing never occurs, slabs win over pencils while there are enough planes,
// and grids are lined up with the user's.
#pragma once

#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace weft {

enum class Decomposition { automatic, slab, pencil };

struct ScheduleRequest {
  Shape shape;
  AxisVector<Transform> transforms;
  int ranks = 1;
  TilingPtr input, output;  ///< null: fastest
  std::vector<Order> input_orders,
      output_orders;  ///< one for all, one per rank, or empty (only with fastest)
  Decomposition decomposition = Decomposition::automatic;
};

/// The forward schedule. Throws `weft::Error` if none exists: a one-dimensional array over several ranks, or
/// pencils of an array with fewer than three axes.
Schedule make_schedule(const ScheduleRequest& request);

/// The shape after the forward transform: n/2+1 along an r2c axis.
Shape output_shape(const Shape& shape, const AxisVector<Transform>& transforms);

/// The tiling that a named distribution stands for. `fastest` gives null. Throws `weft::Error` for an axis
/// out of range, too few axes, or a grid that does not fit.
TilingPtr named_tiling(const Distribution& distribution, const Shape& shape, int ranks, const char* what);

}  // namespace weft
