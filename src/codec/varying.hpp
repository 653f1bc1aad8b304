// Rows whose blocks vary in length. They are encoded and decoded where every block has room for the longest,
// so that any of them is found; in messages they lie one behind the other (kernels/cpu/varying_rows.hpp). The
// payload of a block begins with a byte, its length: that of what follows, in units of two bytes. In a
// message nothing but these lengths says where the next block begins.
#pragma once

#include "weft/axis_vector.hpp"

namespace weft::codec {

/// The unit of lengths.
inline constexpr int length_unit = 2;
/// The length of a block that has not arrived; larger than any has room for.
inline constexpr int no_length = 255;

/// A part of such rows.
struct VaryingRows {
  Index rows = 0;     ///< 0: it is none
  Index bytes = 0;    ///< the room of a row
  Index reals = 0;    ///< of a row
  int room_bits = 0;  ///< for each of them
  friend bool operator==(const VaryingRows&, const VaryingRows&) = default;
};

}  // namespace weft::codec
