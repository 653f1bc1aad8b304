// What the codecs have in common: numbers are coded in blocks of 64 reals, each by itself. A block has a head
// of four bytes, with the power of two by which its numbers were divided and a check sum of its payload, and
// takes the same number of bytes for every number, so that any number is found without those before it. All
// of it is for host and devices.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/anywhere.hpp"

namespace weft::codec {

/// The real numbers of a block; the last one of a row may have fewer.
inline constexpr int block_reals = 64;

/// Bytes of the heads at the start of a row of so many reals.
WEFT_INLINE std::int64_t heads_bytes(std::int64_t reals) {
  return (4 * ((reals + block_reals - 1) / block_reals) + 7) / 8 * 8;
}

/// What became of a block. The larger of two is the worse one.
enum class Outcome : std::uint8_t {
  good,
  overflow,    ///< encoding: a finite number has become infinite
  not_finite,  ///< encoding: NaN or an infinity, which this codec has no representation of
  damaged,     ///< decoding: this is not what an encoder wrote
};

WEFT_INLINE Outcome worse(Outcome a, Outcome b) {
  return a < b ? b : a;
}

/// The head of a block.
struct Head {
  std::int16_t shift;   ///< the numbers are those of the payload times two to the power of it
  std::uint16_t check;  ///< of shift and payload
};
static_assert(sizeof(Head) == 4);

/// The head of a block, given the sum of the words of its payload. Whatever byte of a payload or a power of
/// two changes, the check does: the upper half of the sum and the power count an odd number of times each,
/// and no byte of the lower half makes up for a carry. Memory that nobody has written to is not taken for
/// zeros.
WEFT_INLINE Head head_of(int shift, std::uint32_t sum) {
  const std::uint32_t all =
      sum + 0x9E37U * (sum >> 16) + 0x79B9U * static_cast<std::uint32_t>(shift + 0x1234);
  return {static_cast<std::int16_t>(shift), static_cast<std::uint16_t>(all & 0xFFFFU)};
}

WEFT_INLINE bool fits(const Head& head, std::uint32_t sum) {
  return head.check == head_of(head.shift, sum).check;
}

/// The bits of a real number: sign, exponent, mantissa.
template <class Real>
struct Ieee {
  using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  static constexpr int bits = 8 * static_cast<int>(sizeof(Real));
  static constexpr int mantissa = sizeof(Real) == 8 ? 52 : 23;
  static constexpr int bias = sizeof(Real) == 8 ? 1023 : 127;
  static constexpr int exponents = 2 * bias + 1;  ///< that of infinities and NaN
  static constexpr Bits sign = Bits{1} << (bits - 1);
  static constexpr Bits infinity = static_cast<Bits>(exponents) << mantissa;
  static constexpr Bits first = Bits{1} << mantissa;        ///< the lowest bit of the exponent
  static constexpr Bits quiet = Bits{1} << (mantissa - 1);  ///< of NaN
};

/// The power of two by which formats with the range of single precision divide a block whose largest number
/// has this exponent: none for numbers of usual size.
WEFT_INLINE int shift_of_wide(int exponent) {
  return exponent >= -60 && exponent <= 60 ? 0 : exponent;
}

template <class To, class From>
WEFT_INLINE To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

/// 2^exponent, a normal number.
template <class Real>
WEFT_INLINE Real power_of_two(int exponent) {
  using I = Ieee<Real>;
  return same_bits<Real>(static_cast<typename I::Bits>(exponent + I::bias) << I::mantissa);
}

}  // namespace weft::codec
