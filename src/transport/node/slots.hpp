// What the ranks of a machine gather for another one, and what they take out of what comes from there: a slot
// of shared memory for each machine, tile and direction, and for each of several rails. All ranks of the
// machine compute the same slots from what each of them sends and receives. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "base/arithmetic.hpp"
#include "traffic/messages.hpp"

namespace weft {

/// For every rank its machine's number, counted from 0 as they come. `nodes`: any numbers of them.
std::vector<int> numbered(const std::vector<int>& nodes);

/// Which rail carries what a rank has for another machine. The ranks of a machine are shared out among the
/// rails, one more for every next machine: a rank alone uses another rail for the next machine.
class NodeRails {
 public:
  /// `machines`: of every rank, numbered.
  NodeRails(std::vector<int> machines, int rails);

  int count() const { return rails_; }
  int machine(int rank) const { return at(machines_, rank); }
  int machines() const { return count_; }
  /// Of what one rank sends to another one, on another machine.
  int between(int sender, int receiver) const { return (at(places_, sender) + machine(receiver)) % rails_; }

 private:
  std::vector<int> machines_, places_;  ///< places: among the ranks of the same machine
  int rails_, count_ = 0;
};

/// The bytes that ranks send to each machine on each rail in each tile, and receive from it, rank after rank.
class NodeTraffic {
 public:
  NodeTraffic(int ranks, int tiles, int machines, int rails = 1)
      : tiles_(tiles),
        machines_(machines),
        rails_(rails),
        bytes_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(of_a_rank())) {}

  int tiles() const { return tiles_; }
  int machines() const { return machines_; }
  int rails() const { return rails_; }
  /// Numbers of a rank.
  int of_a_rank() const { return 2 * tiles_ * machines_ * rails_; }
  std::vector<Index>& numbers() { return bytes_; }
  /// What rank `self` sends and receives in a reshape, as number `rank` of its machine.
  void add(int rank, int self, const ReshapeMessages& reshape, const NodeRails& rails);
  Index& of(int rank, bool sends, int tile, int machine, int rail = 0) {
    return at(bytes_, place(rank, sends, tile, machine, rail));
  }
  Index of(int rank, bool sends, int tile, int machine, int rail = 0) const {
    return at(bytes_, place(rank, sends, tile, machine, rail));
  }

 private:
  int place(int rank, bool sends, int tile, int machine, int rail) const {
    return (((rank * 2 + (sends ? 1 : 0)) * tiles_ + tile) * machines_ + machine) * rails_ + rail;
  }
  int tiles_, machines_, rails_;
  std::vector<Index> bytes_;
};

/// A slot in which a rank has parts. Ranks are numbered within their machine.
struct NodeSlot {
  int tile = 0, machine = 0, rail = 0;  ///< the other machine, and how it is reached
  bool sends = false;
  int owner = -1;             ///< in whose memory it is, and who sends it, or receives it
  int ranks = 0;              ///< that have parts in it
  Index bytes = 0;            ///< of the message
  Index first = 0;            ///< where the parts of this rank begin in it, one rank's behind the other's
  Index flags = 0, data = 0;  ///< where its flags and its bytes begin in the memory of its owner
};

/// Of the flags of a slot.
inline constexpr Index slot_flags_bytes = 128;

/// The slots in which `rank` has parts, tile by tile, and the memory that it owns. Slots are shared out among
/// the ranks that have parts in them, so that all send about as many bytes, and receive about as many.
struct NodeSlots {
  std::vector<NodeSlot> slots;
  Index bytes = 0;
};
NodeSlots node_slots(const NodeTraffic& traffic, int ranks, int rank);

}  // namespace weft
