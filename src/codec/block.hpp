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

/// A word at a multiple of its size. Devices would load one that may lie anywhere byte by byte.
template <class Word>
WEFT_INLINE Word aligned_load(const std::byte* at) {
#if defined(WEFT_ON_DEVICE)
  return *reinterpret_cast<const Word*>(at);
#else
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
#endif
}
template <class Word>
WEFT_INLINE void aligned_store(std::byte* at, Word word) {
#if defined(WEFT_ON_DEVICE)
  *reinterpret_cast<Word*>(at) = word;
#else
  std::memcpy(at, &word, sizeof word);
#endif
}

/// What an encoder has to know of all numbers of a block before it codes any.
template <class Real>
struct Extent {
  std::int32_t largest = 0;           ///< the upper half of the largest number, without its sign
  typename Ieee<Real>::Bits any = 0;  ///< the bits of all, without their signs; 0: all are zeros

  WEFT_INLINE void add(Real number) {
    using I = Ieee<Real>;
    const auto size = same_bits<typename I::Bits>(number) & ~I::sign;
    const auto upper = static_cast<std::int32_t>(size >> (I::bits - 32));
    largest = upper > largest ? upper : largest;
    any |= size;
  }
};

/// How the codes of a block's numbers lie, each of so many bytes: divided between arrays of words, one for
/// each power of two in the size, the upper bytes in the first, so that vectors load and store whole words.
template <int Bytes>
struct Words {
  static constexpr bool fours = (Bytes & 4) != 0, twos = (Bytes & 2) != 0, ones = (Bytes & 1) != 0;
  /// Where the twos and the ones of `n` numbers begin.
  static WEFT_INLINE std::size_t at_twos(int n) { return fours ? 4 * static_cast<std::size_t>(n) : 0; }
  static WEFT_INLINE std::size_t at_ones(int n) {
    return at_twos(n) + (twos ? 2 * static_cast<std::size_t>(n) : 0);
  }
  /// The words of a code.
  static WEFT_INLINE std::uint32_t four(std::uint64_t code) {
    return static_cast<std::uint32_t>(code >> (8 * (Bytes & 3)));
  }
  static WEFT_INLINE std::uint16_t two(std::uint64_t code) {
    return static_cast<std::uint16_t>(code >> (8 * (Bytes & 1)));
  }
  static WEFT_INLINE std::uint8_t one(std::uint64_t code) { return static_cast<std::uint8_t>(code); }

  template <class Word>
  static WEFT_INLINE Word load_word(const std::byte* words, int i) {
    return aligned_load<Word>(words + static_cast<std::size_t>(i) * sizeof(Word));
  }
  /// Number `i` of `n`.
  template <class Code>
  static WEFT_INLINE Code load(const std::byte* payload, int n, int i) {
    Code code = 0;
    if constexpr (fours) code = load_word<std::uint32_t>(payload, i);
    if constexpr (twos)
      code = static_cast<Code>(code << 16 | load_word<std::uint16_t>(payload + at_twos(n), i));
    if constexpr (ones)
      code = static_cast<Code>(code << 8 | load_word<std::uint8_t>(payload + at_ones(n), i));
    return code;
  }
  /// Number `i`, even, and the next one.
  template <class Code>
  static WEFT_INLINE void load_two(const std::byte* payload, int n, int i, Code (&codes)[2]) {
    const auto at = static_cast<std::size_t>(i);
    codes[0] = codes[1] = 0;
    if constexpr (fours) {
      const auto words = aligned_load<std::uint64_t>(payload + 4 * at);
      codes[0] = static_cast<std::uint32_t>(words);
      codes[1] = static_cast<Code>(words >> 32);
    }
    if constexpr (twos) {
      const auto words = aligned_load<std::uint32_t>(payload + at_twos(n) + 2 * at);
      codes[0] = static_cast<Code>(codes[0] << 16 | (words & 0xFFFFU));
      codes[1] = static_cast<Code>(codes[1] << 16 | words >> 16);
    }
    if constexpr (ones) {
      const std::uint32_t words = aligned_load<std::uint16_t>(payload + at_ones(n) + at);
      codes[0] = static_cast<Code>(codes[0] << 8 | (words & 0xFFU));
      codes[1] = static_cast<Code>(codes[1] << 8 | words >> 8);
    }
  }
  template <class Code>
  static WEFT_INLINE void store_two(std::byte* payload, int n, int i, const Code (&codes)[2]) {
    const auto at = static_cast<std::size_t>(i);
    if constexpr (fours)
      aligned_store(payload + 4 * at, four(codes[0]) | std::uint64_t{four(codes[1])} << 32);
    if constexpr (twos)
      aligned_store(payload + at_twos(n) + 2 * at, two(codes[0]) | std::uint32_t{two(codes[1])} << 16);
    if constexpr (ones)
      aligned_store(payload + at_ones(n) + at,
                    static_cast<std::uint16_t>(one(codes[0]) | std::uint16_t{one(codes[1])} << 8));
  }
  static WEFT_INLINE void store(std::byte* payload, int n, int i, std::uint64_t code) {
    const auto at = static_cast<std::size_t>(i);
    if constexpr (fours) aligned_store(payload + 4 * at, four(code));
    if constexpr (twos) aligned_store(payload + at_twos(n) + 2 * at, two(code));
    if constexpr (ones) aligned_store(payload + at_ones(n) + at, one(code));
  }
  static WEFT_INLINE std::uint32_t sum(std::uint64_t code) {
    return (fours ? four(code) : 0U) + (twos ? two(code) : 0U) + (ones ? one(code) : 0U);
  }
};

/// 2^exponent, a normal number.
template <class Real>
WEFT_INLINE Real power_of_two(int exponent) {
  using I = Ieee<Real>;
  return same_bits<Real>(static_cast<typename I::Bits>(exponent + I::bias) << I::mantissa);
}

}  // namespace weft::codec
