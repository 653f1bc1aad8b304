// Codec bf16: the upper half of single precision, eight bits of mantissa counting the first one, which is not
// stored.
#pragma once

#include "codec/block.hpp"

namespace weft::codec {

struct Bf16 {
  using Word = std::uint16_t;
  static constexpr int error_exponent = -8;

  static WEFT_INLINE int shift_of(int exponent) { return shift_of_wide(exponent); }

  static WEFT_INLINE Word narrow(float value) {
    const auto bits = same_bits<std::uint32_t>(value);
    return (bits & 0x7FFFFFFFU) > 0x7F800000U ? static_cast<Word>((bits | 0x400000U) >> 16)
                                              : narrow_finite(value);
  }
  static WEFT_INLINE Word narrow_finite(float value) {
    const auto bits = same_bits<std::uint32_t>(value);
    return static_cast<Word>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
  }
  static WEFT_INLINE float widen(Word word) {
    return same_bits<float>(static_cast<std::uint32_t>(word) << 16);
  }
};

}  // namespace weft::codec
