#include "kernels/cpu/varying_rows.hpp"

#include <algorithm>
#include <cstring>

#include "base/arithmetic.hpp"
#include "codec/block.hpp"

namespace weft {

namespace {

using codec::block_reals;
using codec::VaryingRows;

Index blocks_of(const VaryingRows& rows) {
  return divided_up<Index>(rows.reals, block_reals);
}

/// Where the payload of a block begins in a row, and the room that it has.
struct Room {
  Index begin, bytes;
};
Room room_of(const VaryingRows& rows, Index block) {
  const Index heads = codec::heads_bytes(rows.reals), each = Index{block_reals} * rows.room_bits / 8;
  const Index begin = heads + block * each;
  return {begin, std::min(each, rows.bytes - begin)};
}

/// Of a payload, with the length in front.
Index payload_bytes(const std::byte* payload) {
  return 1 + codec::length_unit * std::to_integer<Index>(*payload);
}

void move_bytes(std::byte* to, const std::byte* from, Index bytes) {
  std::memmove(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

Index compact(const VaryingRows& rows, std::byte* part) {
  const Index blocks = blocks_of(rows), heads = blocks * static_cast<Index>(sizeof(codec::Head));
  std::byte* to = part;
  for (Index r = 0; r < rows.rows; ++r) {
    const std::byte* const row = part + r * rows.bytes;
    move_bytes(to, row, heads);
    to += heads;
    for (Index b = 0; b < blocks; ++b) {
      const Room room = room_of(rows, b);
      const Index bytes = std::min(payload_bytes(row + room.begin), room.bytes);
      move_bytes(to, row + room.begin, bytes);
      to += bytes;
    }
  }
  return to - part;
}

/// What has arrived is moved to the end of the part's memory first: from there no block is moved over one
/// that has not been moved yet, as each has its room. Of bytes that no encoder wrote, some may be.
void spread(const VaryingRows& rows, std::byte* part, Index bytes) {
  const Index blocks = blocks_of(rows), heads = blocks * static_cast<Index>(sizeof(codec::Head));
  const Index all = rows.rows * rows.bytes, arrived = std::clamp<Index>(bytes, 0, all);
  const std::byte* const end = part + all;
  const std::byte* from = end - arrived;
  move_bytes(part + (all - arrived), part, arrived);
  bool sound = true;
  const auto take = [&](std::byte* to, Index count, Index most) {
    sound = sound && count <= most && count <= end - from;
    if (!sound) return;
    move_bytes(to, from, count);
    from += count;
  };
  for (Index r = 0; r < rows.rows; ++r) {
    std::byte* const row = part + r * rows.bytes;
    take(row, heads, heads);
    for (Index b = 0; b < blocks; ++b) {
      const Room room = room_of(rows, b);
      take(row + room.begin, sound && from < end ? payload_bytes(from) : room.bytes + 1, room.bytes);
      if (r + 1 == rows.rows && b + 1 == blocks) sound = sound && from == end;
      if (!sound) row[room.begin] = std::byte{codec::no_length};
    }
  }
}

}  // namespace weft
