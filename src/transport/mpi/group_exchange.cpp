#include "transport/mpi/group_exchange.hpp"

#include <algorithm>

namespace weft {

namespace {

template <class Side>
Side side_of(const std::vector<Message>& messages, const std::vector<int>& members, int element_bytes) {
  Side s;
  s.start = messages.empty() ? 0 : messages.front().offset;
  s.counts.resize(members.size());
  s.displacements.resize(members.size());
  for (const Message& m : messages) {
    const auto at = std::lower_bound(members.begin(), members.end(), m.peer) - members.begin();
    s.counts[static_cast<std::size_t>(at)] = mpi_count(m.bytes, element_bytes);
    s.displacements[static_cast<std::size_t>(at)] = mpi_count(m.offset - s.start, element_bytes);
  }
  return s;
}

}  // namespace

GroupExchange::GroupExchange(const ExchangeContext& c)
    : world_(*c.comm.mpi()), colours_(c.groups), type_(mpi_datatype(c.reshape.element_bytes)) {
  std::vector<int> members;
  const int rank = c.comm.rank(), colour = c.groups[static_cast<std::size_t>(rank)];
  for (std::size_t r = 0; r < c.groups.size(); ++r) {
    if (c.groups[r] != colour) continue;
    if (static_cast<int>(r) == rank) place_ = static_cast<int>(members.size());
    members.push_back(static_cast<int>(r));
  }
  members_ = static_cast<int>(members.size());
  for (const TileMessages& t : c.reshape.tiles)
    tiles_.push_back({side_of<Side>(t.sends, members, c.reshape.element_bytes),
                      side_of<Side>(t.receives, members, c.reshape.element_bytes), t.receives.size(),
                      t.receives.size()});
}

int GroupExchange::next_arrival(int tile) {
  Tile& t = tile_at(tile);
  return t.returned < t.parts ? static_cast<int>(t.returned++) : -1;
}

}  // namespace weft
