// Codec fp32: single precision. Numbers of usual size are not divided at all.
#pragma once

#include "codec/block.hpp"

namespace weft::codec {

struct Fp32 {
  using Word = std::uint32_t;
  /// A number is encoded with at most this error, relative to itself, or, of small ones, to 2^-66 times the
  /// largest of its block: 2^-24.
  static constexpr int error_exponent = -24;

  /// The power by which a block is divided whose largest number has this exponent.
  static WEFT_INLINE int shift_of(int exponent) { return shift_of_wide(exponent); }

  static WEFT_INLINE Word narrow(float value) { return same_bits<Word>(value); }
  static WEFT_INLINE Word narrow_finite(float value) { return narrow(value); }
  static WEFT_INLINE float widen(Word word) { return same_bits<float>(word); }
};

}  // namespace weft::codec
