// In which order a rank turns to the others in an all-to-all exchange, so that no link carries the traffic of
// several ranks while others idle (lossy-all-to-all, section V).
#pragma once

#include <vector>

namespace weft {

/// All other ranks, each once, in rounds: each round goes through the ranks of one other machine, the last
/// through those of `rank`'s own. `nodes`: the machine of every rank. In any one step, if all machines have
/// equally many ranks, no two ranks turn to the same rank; nor do two of a machine turn to the same other
/// machine, if there are at least as many other machines as ranks on each.
std::vector<int> ring_order(const std::vector<int>& nodes, int rank);

}  // namespace weft
