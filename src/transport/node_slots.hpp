// What the ranks of a machine gather for another one, and what they take out of what comes from there: a slot
// of shared memory for each machine, tile and way. All ranks of the machine compute the same slots from what
// each of them sends and receives. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "base/arithmetic.hpp"
#include "traffic/messages.hpp"

namespace weft {

/// For every rank its machine's number, counted from 0 as they come. `nodes`: any numbers of them.
std::vector<int> numbered(const std::vector<int>& nodes);

/// The bytes that ranks send to each machine in each tile, and receive from it, rank after rank.
class NodeTraffic {
 public:
  NodeTraffic(int ranks, int tiles, int machines)
      : tiles_(tiles),
        machines_(machines),
        bytes_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(of_a_rank())) {}

  int tiles() const { return tiles_; }
  int machines() const { return machines_; }
  /// Numbers of a rank.
  int of_a_rank() const { return 2 * tiles_ * machines_; }
  std::vector<Index>& numbers() { return bytes_; }
  /// What a rank sends and receives in a reshape. `machines`: of all ranks.
  void add(int rank, const ReshapeMessages& reshape, const std::vector<int>& machines);
  Index& of(int rank, bool sends, int tile, int machine) {
    return at(bytes_, place(rank, sends, tile, machine));
  }
  Index of(int rank, bool sends, int tile, int machine) const {
    return at(bytes_, place(rank, sends, tile, machine));
  }

 private:
  int place(int rank, bool sends, int tile, int machine) const {
    return ((rank * 2 + (sends ? 1 : 0)) * tiles_ + tile) * machines_ + machine;
  }
  int tiles_, machines_;
  std::vector<Index> bytes_;
};

/// A slot in which a rank has parts. Ranks are numbered within their machine.
struct NodeSlot {
  int tile = 0, machine = 0;  ///< the other machine
  bool sends = false;
  int owner = -1;             ///< in whose memory it is, and who sends it, or receives it
  int ranks = 0;              ///< that have parts in it
  Index bytes = 0;            ///< of the message
  Index first = 0;            ///< where the parts of this rank begin in it, one rank's behind the other's
  Index flags = 0, data = 0;  ///< where its flags and its bytes begin in the memory of its owner
};

/// Of the flags of a slot.
inline constexpr Index slot_flags_bytes = 128;

/// The slots in which `rank` has parts, tile by tile, and the memory that it owns. Of every tile the machines
/// are shared out among the ranks that have parts: each is the owner of some slots, and the same ranks of two
/// machines send and receive what goes both ways.
struct NodeSlots {
  std::vector<NodeSlot> slots;
  Index bytes = 0;
};
NodeSlots node_slots(const NodeTraffic& traffic, int ranks, int rank);

}  // namespace weft
