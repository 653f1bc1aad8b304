#include "program/padding.hpp"

#include <algorithm>
#include <map>

namespace weft {

std::vector<int> members_of(const std::vector<int>& groups, int rank) {
  std::vector<int> members;
  for (std::size_t r = 0; r < groups.size(); ++r)
    if (groups[r] == groups[static_cast<std::size_t>(rank)]) members.push_back(static_cast<int>(r));
  return members;
}

Index padded_bytes(const Placement& place, int j, int k, const std::vector<int>& members) {
  const Field& from = place.field_before(j);
  const Field& to = place.field_after(j);
  Index most = 0;
  for (int r : members)
    for (const Overlap& o : to.tiling->overlaps(place.tile(j, r, k, from.box(r))))
      most = std::max(most, o.box.count());
  return most * place.element_bytes(from);
}

std::string padding_misfit(const Placement& place, int j, const std::vector<int>& groups) {
  std::map<int, std::vector<int>> members;
  for (std::size_t r = 0; r < groups.size(); ++r) members[groups[r]].push_back(static_cast<int>(r));
  for (const auto& [group, ranks] : members)
    for (int k = 0; k < place.tiles(j, ranks.front()); ++k) {
      const Index part = padded_bytes(place, j, k, ranks);
      const Index wanted = part * static_cast<Index>(ranks.size());
      for (int r : ranks) {
        const Index room = place.tile_room(j, r, k);
        if (wanted > room)
          return std::to_string(ranks.size()) + " parts of " + std::to_string(part) + " bytes where " +
                 std::to_string(room) + " have room (rank " + std::to_string(r) + ")";
      }
    }
  return "";
}

}  // namespace weft
