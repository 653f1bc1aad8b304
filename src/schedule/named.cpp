#include "base/text.hpp"
#include "schedule/planner.hpp"

namespace weft {

namespace {

void check_axis(int axis, int ndim, const std::string& operation) {
  if (axis < 0 || axis >= ndim)
    throw Error(operation, "axis " + std::to_string(axis), "an axis of 0.." + std::to_string(ndim - 1));
}

Grid pencil_grid(int local_axis, int ndim, int ranks) {
  const AxisVector<int> pq = near_square(ranks);
  Grid grid(ndim, 1);
  for (int a = 0, i = 0; a < ndim && i < 2; ++a)
    if (a != local_axis) grid[a] = pq[i++];
  return grid;
}

Grid checked_grid(const AxisVector<int>& parts, int ndim, int ranks, const std::string& operation) {
  const std::string text = "grid " + by_x(parts);
  if (parts.size() != ndim) throw Error(operation, text, "one number per axis, " + std::to_string(ndim));
  for (int p : parts)
    if (p < 1) throw Error(operation, text, "at least one part on every axis");
  if (cells(parts) > ranks)
    throw Error(operation, text, "at most " + std::to_string(ranks) + " cells, one per rank");
  return parts;
}

}  // namespace

TilingPtr named_tiling(const Distribution& d, const Shape& shape, int ranks, const char* what) {
  const int ndim = shape.size();
  const std::string operation = std::string("plan: ") + what + " distribution";
  Grid grid(ndim, 1);
  switch (d.kind()) {
    case Distribution::Kind::slab:
      check_axis(d.axis(), ndim, operation);
      grid[d.axis()] = ranks;
      break;
    case Distribution::Kind::pencil:
      check_axis(d.axis(), ndim, operation);
      if (ndim < 3) throw Error(operation, "pencils of " + std::to_string(ndim) + " axes", "at least 3 axes");
      grid = pencil_grid(d.axis(), ndim, ranks);
      break;
    case Distribution::Kind::brick: {
      AxisVector<int> cut;
      for (int a = 0; a < ndim && a < 3; ++a) cut.push_back(a);
      grid = min_surface_grid(shape, ranks, cut);
      break;
    }
    case Distribution::Kind::grid:
      grid = checked_grid(d.parts(), ndim, ranks, operation);
      break;
    default:
      return nullptr;
  }
  return std::make_shared<const Tiling>(Tiling::from_grid(shape, grid, ranks));
}

}  // namespace weft
