// The codecs: how real numbers are represented on the wire. A codec is a value, a row of one table and a
// number of bits for those that take one; its sizes and errors are computed here, for the pure rooms. What
// encodes and decodes is in one header each, for host and devices.
//
// A message is coded in *rows*: the points of a part along one axis, one row behind the other. A row of n
// reals has the heads of its blocks (block.hpp), then their payloads; both begin on eight bytes. Zfp, whose
// numbers are coded by a library, and whose blocks may vary in length, is described in ADR 0028.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "weft/axis_vector.hpp"

namespace weft {

struct CodecRow;

struct Codec {
  const CodecRow* row = nullptr;  ///< null: numbers travel as they are
  int bits = 0;                   ///< what is behind the colon of its name
  explicit operator bool() const { return row != nullptr; }
  friend bool operator==(const Codec&, const Codec&) = default;
};

struct CodecRow {
  const char* name;
  const char* meaning;
  const char* bits_meaning;  ///< what is written behind a colon, as in "trim:20"; null: nothing
  int least_bits, most_bits;
  /// It is coded by a library on the host, which need not be there: for no device, and no tolerance picks it.
  bool by_library;
  int group;  ///< a row is coded as if its reals were a multiple of this
  /// Bits on the wire of a real number of so many bytes. As many as it has: it travels as it is; 0: there is
  /// no such representation of it.
  int (*wire_bits)(int bits, int real_bytes);
  /// The relative error of a coded number, or of its block's norm, is at most two to the power of this.
  int (*error_exponent)(int bits);
  /// Blocks vary in length, and `wire_bits` is the most (varying.hpp).
  bool varies = false;
};

std::span<const CodecRow> codec_table();

/// The codec of a name: "none", "fp32", "trim:20". Throws `weft::Error` that lists the names.
Codec find_codec(const std::string& name);

/// Throws `weft::Error` if the codec has no representation of real numbers of so many bytes.
void check_codec(const Codec& codec, int real_bytes);

/// The bytes that a row of so many reals takes on the wire.
Index row_bytes(const Codec& codec, Index reals, int real_bytes);

/// The bound of the relative error of what is coded, in the 2-norm.
double relative_error(const Codec& codec);

/// "trim:20"
std::string to_string(const Codec& codec);

}  // namespace weft
