// What an execution spent its time on, operation by operation, as one rank saw it.
#pragma once

#include <string>
#include <vector>

#include "weft/axis_vector.hpp"

namespace weft {

/// One stretch of one operation. An operation that is left and taken up again has several.
struct OperationTime {
  /// "fft", "copy", "pack", "put", "keep" (the rank's own part), "exchange" (starting, and for blocking
  /// exchanges completing, a tile; or flags), "wait" (for other ranks), "unpack"
  const char* kind;
  int stage;          ///< of the printed schedule, counted from 0
  int reshape;        ///< counted from 0; -1: none
  int tile;           ///< of the reshape
  double begin, end;  ///< seconds since the execution began
  Index bytes;        ///< that it writes, or sends to other ranks
  /// Of local operations, what they read from arrays and workspace and write there. Scratch memory, which
  /// stays in the cache, does not count.
  Index memory_read, memory_written;
  /// With arrays in memory of GPUs, where operations on different streams overlap: 0 is the user's stream,
  /// which computes, 1 the plan's own, which moves data to other ranks.
  int stream = 0;
};

}  // namespace weft
