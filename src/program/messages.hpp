// The messages of a reshape as one rank sends and receives them: all that a transport needs to know of a
// program, and therefore in a header of its own.
#pragma once

#include <vector>

#include "weft/axis_vector.hpp"

namespace weft {

/// A contiguous part of a tile on the wire.
struct Message {
  int peer;
  Index offset;  ///< bytes from the start of the workspace
  Index bytes;
};

struct ByteRange {
  Index first = 0, last = 0;
};

struct TileMessages {
  std::vector<Message> sends, receives;  ///< by ascending peer, this rank included; direct: offset unused
  ByteRange landing;                     ///< direct: where in the workspace this rank's peers put their parts
};

struct ReshapeMessages {
  int element_bytes = 0;
  std::vector<TileMessages> tiles;  ///< empty on a rank that has no part in the reshape
  int most_tiles = 0;               ///< on any rank
};

}  // namespace weft
