// The bytes that local operations of a transform move between memory and cores, compared with the least that
// its stages need: each stage reads its box once and writes it once. Where memory is the limit, the number of
// passes shows what can still be gained.
#pragma once

#include <vector>

#include "design/design.hpp"
#include "weft/plan.hpp"

namespace weft::bench {

/// Sums over all ranks and the directions that are timed.
struct MemoryTraffic {
  double read = 0, written = 0;  ///< bytes
  double bound = 0;              ///< bytes, read and written together
  double bound_passes = 0;       ///< number of passes of the stages over the array

  double passes() const { return bound > 0 ? bound_passes * (read + written) / bound : 0; }
};

/// Bytes that this rank sends to other ranks in one direction.
double bytes_sent(const Plan& plan, Direction direction);

/// Messages that a rank sends to other machines in one direction, empty ones and flags aside: a part that is
/// cut into several counts once. Where ranks gather what goes to a machine, the one that sends it has the
/// message, of which there is one for each of so many rails.
Index messages_between_machines(const Design& design, Direction direction, const std::vector<int>& nodes,
                                int rank, int rails = 1);

/// Adds the least bytes that the stages of one direction move.
void add_bound(MemoryTraffic& traffic, const Plan& plan, Direction direction);

}  // namespace weft::bench
