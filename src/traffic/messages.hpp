// The messages of a reshape as one rank sends and receives them: all that a transport needs to know of a
// program, and therefore in a header of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/box.hpp"

namespace weft {

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

/// The bytes an operand of these extents touches: [first, last) in its space.
struct Span {
  Space space = Space::work;
  Index first = 0, last = 0;
};
Span span_of(const Operand& operand, const Shape& extents, int element_bytes);

/// A part of a tile that another rank, or this one, gets.
struct Message {
  int peer;
  Index offset;  ///< of dense and padded parts that are sent: bytes from the start of the workspace; else 0
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
  std::vector<Message> sends, receives;  ///< by ascending peer, this rank included
  /// Beside `sends` and `receives`. Boxes: always. Dense: if each part is sent from where it lies, or
  /// received where it belongs, in one piece. Stored: `to`, of what peers store here.
  std::vector<StridedPart> from, to;
  Index padded_bytes = 0;                   ///< padded: what every member of the group gives every other
  int padded_parts = 0;                     ///< padded: members of the group
  Index send_start = 0, receive_start = 0;  ///< dense, padded: where the parts begin
  ByteRange landing;  ///< stored: where in the workspace this rank's peers put their parts
};

/// What goes by one route.
struct ReshapeMessages {
  int element_bytes = 0;
  std::vector<TileMessages> tiles;  ///< empty on a rank that has no part in the reshape
  int most_tiles = 0;               ///< on any rank
};

}  // namespace weft
