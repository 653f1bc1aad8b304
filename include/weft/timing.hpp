// The operations of an execution on one rank, with their times.
#pragma once

#include <string>
#include <vector>

#include "weft/axis_vector.hpp"

namespace weft {

/// A period of time in which an operation ran. An operation that is interrupted and continued later has
/// several.
struct OperationTime {
  /// "fft", "copy", "pack", "put", "keep" (copy the part that stays on this rank), "exchange" (start a tile,
  /// and in blocking exchanges complete it; or set flags), "wait" (for other ranks), "unpack"
  const char* kind;
  int stage;          ///< number in the printed schedule, from 0
  int reshape;        ///< number, from 0; -1: none
  int tile;           ///< number within the reshape
  double begin, end;  ///< seconds since the execution began
  Index bytes = 0;    ///< written, or sent to other ranks
  /// Bytes that a local operation reads from and writes to arrays and workspace. Scratch memory, which stays
  /// in the cache, does not count.
  Index memory_read = 0, memory_written = 0;
  /// On GPUs: 0 for the user's stream, which computes, 1 for the plan's own stream, which moves data to other
  /// ranks. Operations on the two overlap.
  int stream = 0;
  /// The other rank, if the operation is about one: of "put" and "pack" the receiver, of "unpack" the sender,
  /// of "exchange" and "wait" who is told or waited for; -1: none, or several.
  int peer = -1;
};

}  // namespace weft
