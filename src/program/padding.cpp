#include "program/padding.hpp"

#include <algorithm>
#include <map>

#include "program/tile_cut.hpp"

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

std::vector<Index> padded_tiles(const Placement& place, int j, const std::vector<int>& members) {
  const Field& from = place.field_before(j);
  const Field& to = place.field_after(j);
  const TileCut cut(place, place.choices());
  std::vector<Index> most(static_cast<std::size_t>(place.choices()[static_cast<std::size_t>(j)].tiles), 0);
  for (int r : members)
    for (const Overlap& o : to.tiling->overlaps(from.box(r)))
      for (const TileCut::Part& p : cut.parts(j, r, o.rank, false)) {
        Index& tile = most[static_cast<std::size_t>(p.tile)];
        tile = std::max(tile, p.box.count() * place.element_bytes(from));
      }
  return most;
}

Index padded_slot(const std::vector<int>& members, int member, Index start, Index padded_bytes) {
  return start + (std::lower_bound(members.begin(), members.end(), member) - members.begin()) * padded_bytes;
}

namespace {
/// Of planes, whose tiles lie in a box one behind the other.
std::string planes_misfit(const Placement& place, int j, const std::vector<int>& members) {
  Index wanted = 0;
  for (Index part : padded_tiles(place, j, members)) wanted += part * static_cast<Index>(members.size());
  for (int r : members)
    if (const Index room = aligned(place.largest_box(r)); wanted > room)
      return "tiles of " + std::to_string(wanted) + " bytes where " + std::to_string(room) +
             " have room (rank " + std::to_string(r) + ")";
  return "";
}

std::string tiles_misfit(const Placement& place, int j, const std::vector<int>& members) {
  for (int k = 0; k < place.tiles(j, members.front()); ++k) {
    const Index part = padded_bytes(place, j, k, members);
    const Index wanted = part * static_cast<Index>(members.size());
    for (int r : members)
      if (const Index room = place.tile_room(j, r, k); wanted > room)
        return std::to_string(members.size()) + " parts of " + std::to_string(part) + " bytes where " +
               std::to_string(room) + " have room (rank " + std::to_string(r) + ")";
  }
  return "";
}
}  // namespace

std::string padding_misfit(const Placement& place, int j, const std::vector<int>& groups) {
  std::map<int, std::vector<int>> members;
  for (std::size_t r = 0; r < groups.size(); ++r) members[groups[r]].push_back(static_cast<int>(r));
  const bool planes = place.choices()[static_cast<std::size_t>(j)].subtile > 0;
  for (const auto& [group, ranks] : members) {
    std::string misfit = planes ? planes_misfit(place, j, ranks) : tiles_misfit(place, j, ranks);
    if (!misfit.empty()) return misfit;
  }
  return "";
}

}  // namespace weft
