// Takes the room between blocks that vary in length (codec/varying.hpp) out of a part before it is sent, and
// brings it back after the part has arrived. Both in place: a row has the heads of its blocks, then their
// payloads, and one row follows the other.
#pragma once

#include <cstddef>

#include "codec/varying.hpp"

namespace weft {

/// Moves the blocks of an encoded part together. Returns the bytes that they take.
Index compact(const codec::VaryingRows& rows, std::byte* part);

/// Moves blocks of which so many bytes have arrived back to their places, whatever the bytes are. A block
/// that is not there as a whole, or is longer than its room, is one that decoders find damaged, and so are
/// all blocks behind it; and the last one if there are bytes behind it.
void spread(const codec::VaryingRows& rows, std::byte* part, Index bytes);

}  // namespace weft
