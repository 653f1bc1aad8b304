// Padded tiles: every member of an exchange group gives every other as much as the largest part of the tile,
// so that one count serves for all. The padding takes room, and the room is the workspace's.
#pragma once

#include <string>
#include <vector>

#include "traffic/placement.hpp"

namespace weft {

/// The ranks of the exchange group of `rank`, ascending. `groups`: per rank, the number of its group.
std::vector<int> members_of(const std::vector<int>& groups, int rank);

/// Bytes of the largest part that each tile of reshape `j` has between any two of `members`.
std::vector<Index> padded_tiles(const Placement& place, int j, const std::vector<int>& members);

/// Where a tile that begins at `start` has the part of `member`, in slots of `padded_bytes`.
Index padded_slot(const std::vector<int>& members, int member, Index start, Index padded_bytes);

/// Why the padded tiles of reshape `j` have no room in two boxes of workspace ("3 parts of 800 bytes where
/// 1600 have room"), or nothing if they have it on all ranks.
std::string padding_misfit(const Placement& place, int j, const std::vector<int>& groups);

}  // namespace weft
