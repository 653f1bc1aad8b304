#include "traffic/padding.hpp"

#include <algorithm>
#include <map>

#include "traffic/tile_cut.hpp"

namespace weft {

std::vector<int> members_of(const std::vector<int>& groups, int rank) {
  std::vector<int> members;
  for (std::size_t r = 0; r < groups.size(); ++r)
    if (groups[r] == at(groups, rank)) members.push_back(static_cast<int>(r));
  return members;
}

std::vector<Index> padded_tiles(const Placement& place, int j, const std::vector<int>& members) {
  const Field& from = place.field_before(j);
  const Field& to = place.field_after(j);
  const Leg& leg = place.leg(j);
  const TileCut cut(place);
  std::vector<Index> most(static_cast<std::size_t>(leg.tiles), 0);
  const Index unit = place.element_bytes(from);
  const auto widen = [&](int tile, int sender, int receiver, const Box& part) {
    Index& bytes = at(most, tile);
    bytes = std::max(bytes, rounded_up(place.wire_bytes(j, sender, receiver, part), unit));
  };
  for (int r : members) {
    if (leg.planes() != nullptr) {
      for (const Overlap& o : to.tiling->overlaps(from.box(r)))
        for (const TileCut::Part& p : cut.parts(j, r, o.rank, false)) widen(p.tile, r, o.rank, p.box);
    } else {
      for (int k = 0; k < place.tiles(j, r); ++k)
        for (const Overlap& o : to.tiling->overlaps(place.tile(j, r, k, from.box(r))))
          widen(k, r, o.rank, o.box);
    }
  }
  return most;
}

Index padded_slot(const std::vector<int>& members, int member, Index start, Index padded_bytes) {
  return start + (std::lower_bound(members.begin(), members.end(), member) - members.begin()) * padded_bytes;
}

namespace {
std::string misfit(const Placement& place, int j, const std::vector<int>& members) {
  const auto parts = static_cast<Index>(members.size());
  const std::vector<Index> bytes = padded_tiles(place, j, members);
  if (place.leg(j).planes() != nullptr) {  // tiles lie in a box, one behind the other
    Index wanted = 0;
    for (Index part : bytes) wanted += part * parts;
    for (int r : members)
      if (const Index room = aligned(place.largest_box(r)); wanted > room)
        return "tiles of " + std::to_string(wanted) + " bytes where " + std::to_string(room) +
               " have room (rank " + std::to_string(r) + ")";
    return "";
  }
  for (int k = 0; k < place.tiles(j, members.front()); ++k)
    for (int r : members)
      if (const Index room = place.tile_room(j, r, k); at(bytes, k) * parts > room)
        return std::to_string(parts) + " parts of " + std::to_string(at(bytes, k)) + " bytes where " +
               std::to_string(room) + " have room (rank " + std::to_string(r) + ")";
  return "";
}
}  // namespace

std::string padding_misfit(const Placement& place, int j, const std::vector<int>& groups) {
  std::map<int, std::vector<int>> members;
  for (std::size_t r = 0; r < groups.size(); ++r) members[groups[r]].push_back(static_cast<int>(r));
  for (const auto& [group, ranks] : members)
    if (std::string found = misfit(place, j, ranks); !found.empty()) return found;
  return "";
}

}  // namespace weft
