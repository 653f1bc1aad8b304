// What tests ask the planner of schedules: named distributions in C order.
#pragma once

#include <algorithm>

#include "geometry/layout.hpp"
#include "schedule/planner.hpp"

namespace weft::test {

/// Without `transforms` c2c along every axis. A side that is `fastest` may lie in any order.
inline ScheduleRequest request_of(const Shape& shape, int ranks, const Distribution& in,
                                  const Distribution& out, AxisVector<Transform> transforms = {}) {
  ScheduleRequest r;
  r.shape = shape;
  r.transforms = transforms.empty() ? AxisVector<Transform>(shape.size(), Transform::c2c) : transforms;
  r.ranks = ranks;
  r.input = named_tiling(in, shape, ranks, "input");
  r.output = named_tiling(out, output_shape(shape, r.transforms), ranks, "output");
  if (r.input) r.input_orders = {c_order(shape.size())};
  if (r.output) r.output_orders = {c_order(shape.size())};
  return r;
}

inline int reshapes(const Schedule& s) {
  return static_cast<int>(reshape_stages(s).size());
}

/// How many axes are cut among ranks: 1 for slabs, 2 for pencils, 3 for bricks.
inline int cut_axes(const Grid& grid) {
  return static_cast<int>(std::count_if(grid.begin(), grid.end(), [](int parts) { return parts > 1; }));
}

}  // namespace weft::test
