// Which schedules may be made.
#include "base/text.hpp"
#include "design/rules/rules.hpp"

namespace weft {

namespace {

int shrunk_to(const Wishes& wishes, int ranks) {
  const std::optional<Index> wanted = wishes.shrink.value;
  if (!wanted) return 0;
  if (*wanted < 1 || *wanted > ranks)
    throw Error("plan: option shrink", std::to_string(*wanted) + " ranks",
                "1 to " + std::to_string(ranks) + ", the ranks there are");
  return static_cast<int>(*wanted);
}

/// A grid is one of pencils.
void apply_grid(ScheduleRequest& request, const AxisVector<int>& grid) {
  if (grid.empty()) return;
  if (request.decomposition == Decomposition::slab)
    throw Error("plan: option grid", by_x(grid) + " with decomposition slab",
                "decomposition auto, pencil or brick");
  const int ranks = request.computing_ranks > 0 ? request.computing_ranks : request.ranks;
  if (Index{grid[0]} * grid[1] != ranks)
    throw Error("plan: option grid", by_x(grid) + " on " + std::to_string(ranks) + " ranks",
                "two factors of " + std::to_string(ranks));
  if (request.decomposition == Decomposition::automatic) request.decomposition = Decomposition::pencil;
  request.pencil_grid = grid;
}

}  // namespace

void apply_schedule_wishes(ScheduleRequest& request, const Wishes& wishes) {
  request.decomposition = wishes.decomposition.value;
  request.computing_ranks = shrunk_to(wishes, request.ranks);
  apply_grid(request, wishes.grid.value);
}

}  // namespace weft
