// The messages of a reshape as one rank sends and receives them: all that a transport needs to know of a
// program, and therefore in a header of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/varying.hpp"
#include "weft/box.hpp"

namespace weft {

/// The memory that an operand is in: the user's arrays, the workspace, scratch memory, whose contents are
/// used by the next few operations only, or memory that all ranks share (pipeline *shared*), which is the
/// start of the first rank's workspace. In an in-place transform `output` is the same memory as `input`.
enum class Space : std::uint8_t { input, output, work, scratch, shared };
inline constexpr std::size_t space_count = 5;

/// The start of each space, by its number.
using Memory = std::array<std::byte*, space_count>;

/// Cells of a box along two axes: `rows` rows of `points` points lie together. Behind a cell follow the same
/// rows and points for all indices of the other axes; then the next cells along the fastest axis, then those
/// along the other one.
struct Cells {
  int fastest = -1, across = -1;  ///< the axes of points and of rows
  Index points = 0, rows = 0;
  Index next_points = 0, next_rows = 0;  ///< strides from cell to cell
  explicit operator bool() const { return points > 0; }
  /// Elements to an index along an axis of this stride.
  Index elements_to(int axis, Index index, Index stride) const {
    if (points > 0 && axis == fastest) return index / points * next_points + index % points * stride;
    if (points > 0 && axis == across) return index / rows * next_rows + index % rows * stride;
    return index * stride;
  }
  friend bool operator==(const Cells&, const Cells&) = default;
};

struct Operand {
  Space space = Space::work;
  Index offset = 0;  ///< bytes
  Strides strides;   ///< elements; along the axes of cells within one
  Cells cells = {};  ///< what is taken has whole cells
};

/// The bytes an operand of these extents touches: [first, last) in its space.
struct Span {
  Space space = Space::work;
  Index first = 0, last = 0;
};
Span span_of(const Operand& operand, const Shape& extents, int element_bytes);

/// The part of a tile that a rank sends to `peer`, or receives from it. The peer may be the rank itself.
struct Message {
  int peer;
  Index offset;  ///< of packed parts but those that are stored elsewhere: bytes from the start of the
                 ///< workspace; else 0
  Index bytes;
  codec::VaryingRows rows = {};  ///< if their lengths vary: `bytes` is their room, and fewer travel
};

/// A part that is sent or received without packing: a strided box. The sender and the receiver go through its
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
  /// The memory of the parts in `sends` and `receives`, where they are not packed. Form boxes: always. Form
  /// dense: if each part is one piece of memory and is sent, or received, without a copy. Stored parts: only
  /// `to`, of what peers store in this rank's workspace, unless it is packed.
  std::vector<StridedPart> from, to;
  Index padded_bytes = 0;                   ///< padded: what every member of the group gives every other
  int padded_parts = 0;                     ///< padded: members of the group
  Index send_start = 0, receive_start = 0;  ///< dense, padded: where the parts begin
  ByteRange landing;  ///< stored: where in the workspace this rank's peers put their parts
};

/// The messages of a reshape that take one route: all that are sent, or all that are stored.
struct ReshapeMessages {
  int element_bytes = 0;
  std::vector<TileMessages> tiles;  ///< empty on a rank that has no part in the reshape
  int most_tiles = 0;               ///< on any rank
};

}  // namespace weft
