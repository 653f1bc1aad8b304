#include "transport/node/slots.hpp"

#include <map>

namespace weft {

NodeRails::NodeRails(std::vector<int> machines, int rails) : machines_(std::move(machines)), rails_(rails) {
  std::map<int, int> ranks;
  for (const int machine : machines_) places_.push_back(ranks[machine]++);
  count_ = static_cast<int>(ranks.size());
}

void NodeTraffic::add(int rank, int self, const ReshapeMessages& reshape, const NodeRails& rails) {
  for (std::size_t k = 0; k < reshape.tiles.size(); ++k) {
    const auto tile = static_cast<int>(k);
    for (const Message& m : reshape.tiles[k].sends)
      of(rank, true, tile, rails.machine(m.peer), rails.between(self, m.peer)) += m.bytes;
    for (const Message& m : reshape.tiles[k].receives)
      of(rank, false, tile, rails.machine(m.peer), rails.between(m.peer, self)) += m.bytes;
  }
}

namespace {

constexpr Index line = 64;

/// A slot as `rank` sees it, without its owner; without ranks if it is empty.
NodeSlot slot_of(const NodeTraffic& traffic, int ranks, int rank, const NodeSlot& which) {
  NodeSlot slot = which;
  for (int r = 0; r < ranks; ++r) {
    const Index bytes = traffic.of(r, slot.sends, slot.tile, slot.machine, slot.rail);
    if (bytes == 0) continue;
    if (r < rank) slot.first += bytes;
    slot.bytes += bytes;
    ++slot.ranks;
  }
  return slot;
}

/// Of the ranks that have parts in a slot the one that owns the fewest bytes so far; of several the first
/// from another one on for every machine, rail and tile.
int next_owner(const NodeTraffic& traffic, const NodeSlot& slot, const std::vector<Index>& owned) {
  const auto ranks = static_cast<int>(owned.size());
  int best = -1;
  for (int i = 0; i < ranks; ++i) {
    const int r = (slot.machine + slot.rail + slot.tile + i) % ranks;
    if (traffic.of(r, slot.sends, slot.tile, slot.machine, slot.rail) > 0 &&
        (best < 0 || at(owned, r) < at(owned, best)))
      best = r;
  }
  return best;
}

}  // namespace

std::vector<int> numbered(const std::vector<int>& nodes) {
  std::map<int, int> number;
  std::vector<int> numbers;
  for (const int node : nodes)
    numbers.push_back(number.try_emplace(node, static_cast<int>(number.size())).first->second);
  return numbers;
}

NodeSlots node_slots(const NodeTraffic& traffic, int ranks, int rank) {
  NodeSlots mine;
  std::vector<Index> used(static_cast<std::size_t>(ranks), 0);  // bytes of each rank's memory
  std::vector<Index> sent = used, received = used;
  for (int tile = 0; tile < traffic.tiles(); ++tile)
    for (int machine = 0; machine < traffic.machines(); ++machine)
      for (int rail = 0; rail < traffic.rails(); ++rail)
        for (const bool sends : {true, false}) {
          NodeSlot slot = slot_of(traffic, ranks, rank, {tile, machine, rail, sends});
          if (slot.ranks == 0) continue;
          std::vector<Index>& owned = sends ? sent : received;
          slot.owner = next_owner(traffic, slot, owned);
          at(owned, slot.owner) += slot.bytes;
          Index& next = at(used, slot.owner);
          slot.flags = next;
          slot.data = slot.flags + slot_flags_bytes;
          next = slot.data + rounded_up(slot.bytes, line);
          if (traffic.of(rank, sends, tile, machine, rail) > 0) mine.slots.push_back(slot);
        }
  mine.bytes = at(used, rank);
  return mine;
}

}  // namespace weft
