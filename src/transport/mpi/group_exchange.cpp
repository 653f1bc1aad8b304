#include "transport/mpi/group_exchange.hpp"

#include <algorithm>

namespace weft {

GroupExchange::GroupExchange(const CarrierRequest& c)
    : world_(*c.comm.mpi()), colours_(c.groups), type_(mpi_datatype(c.reshape.element_bytes)) {
  const int rank = c.comm.rank(), colour = c.groups[static_cast<std::size_t>(rank)];
  for (std::size_t r = 0; r < c.groups.size(); ++r) {
    if (c.groups[r] != colour) continue;
    if (static_cast<int>(r) == rank) place_ = static_cast<int>(members_.size());
    members_.push_back(static_cast<int>(r));
  }
  for (const TileMessages& t : c.reshape.tiles) arrivals_.push_back({t.receives.size(), t.receives.size()});
}

std::size_t GroupExchange::place_of(int rank) const {
  return static_cast<std::size_t>(std::lower_bound(members_.begin(), members_.end(), rank) -
                                  members_.begin());
}

int GroupExchange::next_arrival(int tile, Queue&, Patience) {
  Arrivals& a = arrivals_[static_cast<std::size_t>(tile)];
  return a.returned < a.parts ? static_cast<int>(a.returned++) : no_more_arrivals;
}

CountedGroup::CountedGroup(const CarrierRequest& c) : GroupExchange(c) {
  for (const TileMessages& t : c.reshape.tiles)
    tiles_.push_back({side_of(t.sends, t.send_start, c.reshape.element_bytes),
                      side_of(t.receives, t.receive_start, c.reshape.element_bytes)});
}

CountedGroup::Side CountedGroup::side_of(const std::vector<Message>& messages, Index start,
                                         int element_bytes) const {
  Side s;
  s.start = start;
  s.counts.resize(members().size());
  s.displacements.resize(members().size());
  for (const Message& m : messages) {
    s.counts[place_of(m.peer)] = mpi_count(m.bytes, element_bytes);
    s.displacements[place_of(m.peer)] = mpi_count(m.offset - start, element_bytes);
  }
  return s;
}

}  // namespace weft
