#include "api/schedule_options.hpp"

#include <charconv>

#include "base/text.hpp"

namespace weft {

namespace {

Decomposition decomposition_of(const std::string& name) {
  return name == "slab"     ? Decomposition::slab
         : name == "pencil" ? Decomposition::pencil
         : name == "brick"  ? Decomposition::brick
                            : Decomposition::automatic;
}

int shrunk_to(const Options& options, int ranks) {
  const std::optional<Index> wanted = options.number("shrink");
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

void apply_schedule_options(ScheduleRequest& request, const Options& options) {
  request.decomposition = decomposition_of(options.get("decomposition"));
  request.computing_ranks = shrunk_to(options, request.ranks);
  apply_grid(request, parsed_grid(options.get("grid")));
}

AxisVector<int> parsed_grid(const std::string& text) {
  if (text == "auto") return {};
  int p = 0, q = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, p);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == 'x') {
    const auto second = std::from_chars(first.ptr + 1, end, q);
    if (second.ec == std::errc() && second.ptr == end && p > 0 && q > 0) return {p, q};
  }
  throw Error("options: grid", "\"" + text + "\"", "auto, or two numbers of ranks, such as 2x4");
}

}  // namespace weft
