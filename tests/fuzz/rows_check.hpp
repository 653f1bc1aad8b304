// What both fuzzers need: an input is read as choices and numbers, every row kernel that runs here does the
// same work, in memory of exactly the size that it may touch, and what must hold ends the program if it does
// not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/cpu/rows.hpp"

namespace weft::fuzz {

using Bytes = std::vector<std::byte>;

/// The bytes of an input, one behind the other; zeros behind its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : at_(data), left_(size) {}
  std::uint32_t upto(std::uint32_t most);  ///< at most 65535
  /// So many bytes; if there are fewer, they are repeated.
  Bytes bytes(Index count);

 private:
  std::uint8_t byte();
  const std::uint8_t* at_;
  std::size_t left_;
};

/// Ends the program, and says what does not hold.
void require(bool holds, const char* what);

/// A row: its codec, its size, and how it lies in memory.
struct Row {
  Codec codec;
  int real_bytes;
  Index reals;

  static Row drawn(Input& in);
  Index size() const { return row_bytes(codec, reals, real_bytes); }
  int number_bytes() const { return codec.row->wire_bits(codec.bits, real_bytes) / 8; }
  Index blocks() const { return (reals + codec::block_reals - 1) / codec::block_reals; }
  /// Whether a byte of a row says anything.
  bool uses(Index byte) const;

  /// Of all kernels, which must agree bit for bit. Memory that is not written keeps what it had.
  codec::Outcome encode(const Bytes& numbers, Bytes& row) const;
  codec::Outcome decode(const Bytes& row, Index first, Index last, Bytes& numbers) const;

  /// Encodes numbers and decodes them again: what comes back is within the codec's bound, infinities, NaN and
  /// signs survive, and only what is too large is refused. The row is left in `row`.
  void round_trip(const Bytes& numbers, Bytes& row) const;
};

}  // namespace weft::fuzz
