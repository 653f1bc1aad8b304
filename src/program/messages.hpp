// The messages of a reshape as one rank sends and receives them: all that a transport needs to know of a
// program, and therefore in a header of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/box.hpp"

namespace weft {

/// How an exchange wants its data.
enum class Carry : std::uint8_t {
  packed,   ///< each part dense in a buffer, one behind the other
  padded,   ///< the same, every part of a tile with room for the largest of its exchange group
  direct,   ///< put into the workspace of its receiver by the sender
  strided,  ///< taken from where it lies and left where it belongs, without packing
};

/// Where an operand lies. In an in-place transform `output` names the same memory as `input`. What lies in
/// `scratch` lives only from one operation to the next few.
enum class Space : std::uint8_t { input, output, work, scratch };

/// The start of each space, by its number.
using Memory = std::array<std::byte*, 4>;

struct Operand {
  Space space = Space::work;
  Index offset = 0;  ///< bytes
  Strides strides;   ///< elements
};

/// A contiguous part of a tile on the wire.
struct Message {
  int peer;
  Index offset;  ///< bytes from the start of the workspace
  Index bytes;
};

/// Where the part of a message lies that is not packed: a strided box. Sender and receiver walk through its
/// points in the same order.
struct StridedPart {
  Box box;      ///< global indices
  Operand at;   ///< of the box's first point
  Order order;  ///< axes from slowest to fastest
};

struct ByteRange {
  Index first = 0, last = 0;
};

struct TileMessages {
  std::vector<Message> sends, receives;  ///< by ascending peer, this rank included; direct: offset unused
  /// Beside `sends` and `receives`; strided: always; packed: if each is sent from where it lies, or received
  /// where it belongs, in one piece; direct: `to`, of peers.
  std::vector<StridedPart> from, to;
  Index padded_bytes = 0;                   ///< padded: what every member of the group gives every other
  int padded_parts = 0;                     ///< padded: members of the group
  Index send_start = 0, receive_start = 0;  ///< packed, padded: where the parts begin
  ByteRange landing;  ///< direct: where in the workspace this rank's peers put their parts
};

struct ReshapeMessages {
  int element_bytes = 0;
  std::vector<TileMessages> tiles;  ///< empty on a rank that has no part in the reshape
  int most_tiles = 0;               ///< on any rank
};

}  // namespace weft
