// What the local operations of a transform move between memory and the cores, against what its stages have
// to: each reads its box once and writes it once. Where a transform is bound by memory, the number of passes
// says what there is left to gain.
#pragma once

#include <vector>

#include "weft/plan.hpp"

namespace weft::bench {

/// Over all ranks, of the directions that are timed.
struct MemoryTraffic {
  double read = 0, written = 0;  ///< bytes
  double bound = 0;              ///< bytes, read and written together
  int bound_passes = 0;          ///< how often the stages pass over the array

  double passes() const { return bound > 0 ? bound_passes * (read + written) / bound : 0; }
};

/// Bytes that this rank sends to others in one direction.
double bytes_sent(const Plan& plan, Direction direction);

/// Adds what the stages of one direction have to move.
void add_bound(MemoryTraffic& traffic, const Plan& plan, Direction direction);

}  // namespace weft::bench
