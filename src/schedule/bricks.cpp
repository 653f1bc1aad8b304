#include "geometry/layout.hpp"
#include "schedule/planner.hpp"

namespace weft {

Schedule through_bricks(const Schedule& schedule, const ScheduleRequest& request) {
  const int ranks = request.computing_ranks > 0 ? request.computing_ranks : request.ranks;
  Schedule result = schedule;
  result.stages.clear();
  result.fields = {schedule.fields.front()};
  for (std::size_t i = 0; i < schedule.stages.size(); ++i) {
    const Field& from = schedule.fields[i];
    const Field& to = schedule.fields[i + 1];
    const bool reshape = schedule.stages[i].kind == Stage::Kind::reshape;
    // The fields before the first FFT and after the last one are the user's.
    bool inner = reshape && i > 0 && i + 1 < schedule.stages.size();
    if (inner) {
      Field between = from;
      const Grid grid = min_surface_grid(from.shape, ranks, {0, 1, 2});
      between.tiling = std::make_shared<const Tiling>(Tiling::from_grid(from.shape, grid, request.ranks));
      inner = !(*between.tiling == *from.tiling) && !(*between.tiling == *to.tiling);
      if (inner) {
        between.orders = to.orders;
        result.stages.push_back(schedule.stages[i]);
        result.fields.push_back(between);
      }
    }
    result.stages.push_back(schedule.stages[i]);
    result.fields.push_back(to);
  }
  return result;
}

}  // namespace weft
