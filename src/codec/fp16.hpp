// Codec fp16: half precision, eleven bits of mantissa counting the first one. Its range is small, so a block
// is always divided such that its largest number is near the end of it.
#pragma once

#include "codec/block.hpp"

namespace weft::codec {

struct Fp16 {
  using Word = std::uint16_t;
  static constexpr int error_exponent = -11;
  static constexpr int top = 14;  ///< exponent of a block's largest number after the division

  static WEFT_INLINE int shift_of(int exponent) { return exponent - top; }

  static WEFT_INLINE Word narrow(float value) {
    const auto bits = same_bits<std::uint32_t>(value);
    const std::uint32_t sign = bits & 0x80000000U, size = bits ^ sign;
    if (size < 143U << 23) return narrow_finite(value);
    return static_cast<Word>((size > 0x7F800000U ? 0x7E00U : 0x7C00U) | (sign >> 16));
  }
  /// The same of a number below 2^16.
  static WEFT_INLINE Word narrow_finite(float value) {
#if defined(__CUDA_ARCH__)
    Word half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
#elif defined(WEFT_ON_DEVICE)
    return same_bits<Word>(static_cast<_Float16>(value));
#else
    // An addition of one half aligns the bits of numbers below 2^-14, which have fewer of them, and rounds.
    const auto bits = same_bits<std::uint32_t>(value);
    const std::uint32_t sign = bits & 0x80000000U, size = bits ^ sign;
    const std::uint32_t normal = (size - (112U << 23) + 0xFFFU + ((size >> 13) & 1U)) >> 13;
    const std::uint32_t small = same_bits<std::uint32_t>(same_bits<float>(size) + 0.5F) - (126U << 23);
    return static_cast<Word>(either(size < (113U << 23), small, normal) | (sign >> 16));
#endif
  }
  static WEFT_INLINE float widen(Word word) {
#if defined(__CUDA_ARCH__)
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(word));
    return value;
#elif defined(WEFT_ON_DEVICE)
    return static_cast<float>(same_bits<_Float16>(word));
#else
    const std::uint32_t size = word & 0x7FFFU, sign = static_cast<std::uint32_t>(word & 0x8000U) << 16;
    const std::uint32_t special = (size << 13) | 0x7F800000U;
    const std::uint32_t normal = (size << 13) + (112U << 23);
    const auto small = same_bits<std::uint32_t>(static_cast<float>(static_cast<int>(size)) * 0x1p-24F);
    const std::uint32_t finite = either(size < 0x400U, small, normal);
    return same_bits<float>(either(size < 0x7C00U, finite, special) | sign);
#endif
  }

 private:
  /// Both are computed, so that vectors need no branch.
  static WEFT_INLINE std::uint32_t either(bool first, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t mask = 0U - static_cast<std::uint32_t>(first);
    return (a & mask) | (b & ~mask);
  }
};

}  // namespace weft::codec
