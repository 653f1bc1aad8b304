// Codec trim: sign, exponent and the first bits of the mantissa, rounded to nearest, ties to even, and packed
// to whole bytes. A number of three, five, six or seven bytes is divided between arrays of words, one for
// each power of two in its size, so that vectors load and store whole words. The range is that of the
// numbers themselves.
#pragma once

#include "codec/block.hpp"

namespace weft::codec {

template <int Bytes, class Real>
struct Trim {
  using I = Ieee<Real>;
  using Bits = typename I::Bits;
  static constexpr int bytes = Bytes;  ///< of a number
  static_assert(Bytes >= 2 && Bytes < static_cast<int>(sizeof(Real)));

  /// Keeps so many bits of the mantissa.
  static WEFT_INLINE Outcome encode(const Real* reals, int n, int bits, Head* head, std::byte* payload) {
    Bits kept[block_reals];
    const Range range = keep(reals, n, bits, kept);
    if (range.any != 0 && (range.largest < small || (range.largest >= large && finite_are_small(reals, n))))
      return encode_small(reals, n, bits, head, payload);
    Outcome outcome = Outcome::good;
    if (range.largest >= large) outcome = keep_unusual(reals, n, kept);
    *head = head_of(0, store(kept, n, payload));
    return outcome;
  }

  static WEFT_INLINE Outcome decode(const Head& head, const std::byte* payload, int n, int first, int last,
                                    int /*bits*/, Real* reals) {
    if (first == 0 && ((head.shift != 0 && head.shift != -lift) || !fits(head, sum_of(payload, n))))
      return Outcome::damaged;
    const Real factor = head.shift == 0 ? Real(1) : power_of_two<Real>(-lift);
    for (int i = first; i < last; ++i)
      reals[i - first] = same_bits<Real>(word_at(payload, n, i) << (I::bits - 8 * Bytes)) * factor;
    return Outcome::good;
  }

 private:
  /// Blocks of numbers so small that they may be denormal are multiplied by a power of two, so that the bits
  /// that are kept are those that they have.
  static constexpr int lift = I::bias / 2;

  /// The upper half of the largest number of a block, without its sign, and all bits of all numbers.
  struct Range {
    std::int32_t largest;
    Bits any;
  };
  static constexpr std::int32_t upper_one = std::int32_t{1} << (I::mantissa - (I::bits - 32));
  static constexpr std::int32_t small = (I::mantissa + 2) * upper_one;   ///< below: perhaps denormal
  static constexpr std::int32_t large = (I::exponents - 1) * upper_one;  ///< from here on: perhaps infinite

  static WEFT_INLINE Range keep(const Real* reals, int n, int bits, Bits* kept) {
    const int cut = I::mantissa - bits;
    const Bits half = (Bits{1} << (cut - 1)) - 1;
    Range range{0, 0};
    for (int i = 0; i < n; ++i) {
      const auto given = same_bits<Bits>(reals[i]);
      const Bits size = given & ~I::sign;
      const auto upper = static_cast<std::int32_t>(size >> (I::bits - 32));
      range.largest = upper > range.largest ? upper : range.largest;
      range.any |= size;
      kept[i] = (given + half + ((given >> cut) & 1)) >> cut << (cut - (I::bits - 8 * Bytes));
    }
    return range;
  }

  /// Of a block with infinities or NaN, whether all others are as small as that.
  static WEFT_ANYWHERE bool finite_are_small(const Real* reals, int n) {
    for (int i = 0; i < n; ++i) {
      const Bits size = same_bits<Bits>(reals[i]) & ~I::sign;
      if (size < I::infinity && static_cast<std::int32_t>(size >> (I::bits - 32)) >= small) return false;
    }
    return true;
  }

  static WEFT_ANYWHERE Outcome encode_small(const Real* reals, int n, int bits, Head* head,
                                            std::byte* payload) {
    Real lifted[block_reals];
    for (int i = 0; i < n; ++i) lifted[i] = reals[i] * power_of_two<Real>(lift);
    Bits kept[block_reals];
    keep(lifted, n, bits, kept);
    keep_unusual(lifted, n, kept);
    *head = head_of(-lift, store(kept, n, payload));
    return Outcome::good;
  }

  /// The numbers of a block with infinities, NaN, or numbers that may become infinite when they are rounded.
  static WEFT_ANYWHERE Outcome keep_unusual(const Real* reals, int n, Bits* kept) {
    Outcome outcome = Outcome::good;
    for (int i = 0; i < n; ++i) {
      const auto given = same_bits<Bits>(reals[i]);
      const Bits size = given & ~I::sign;
      if (size < I::infinity) {
        if (((kept[i] << (I::bits - 8 * Bytes)) & ~I::sign) >= I::infinity) outcome = Outcome::overflow;
      } else {
        // Of NaN the quiet bit is kept, whatever is cut.
        const Bits special = size > I::infinity ? given | I::quiet : given;
        kept[i] = special >> (I::bits - 8 * Bytes);
      }
    }
    return outcome;
  }

  static constexpr bool fours = (Bytes & 4) != 0, twos = (Bytes & 2) != 0, ones = (Bytes & 1) != 0;

  template <class Word>
  static WEFT_INLINE std::uint32_t store_words(const Bits* kept, int shift, int n, std::byte* payload) {
    std::uint32_t sum = 0;
    for (int i = 0; i < n; ++i) {
      const auto word = static_cast<Word>(kept[i] >> shift);
      std::memcpy(payload + static_cast<std::size_t>(i) * sizeof word, &word, sizeof word);
      sum += word;
    }
    return sum;
  }
  template <class Word>
  static WEFT_INLINE Word load(const std::byte* payload, int i) {
    Word word;
    std::memcpy(&word, payload + static_cast<std::size_t>(i) * sizeof word, sizeof word);
    return word;
  }

  /// The upper bytes of a number come first.
  static WEFT_INLINE std::uint32_t store(const Bits* kept, int n, std::byte* payload) {
    std::uint32_t sum = 0;
    if constexpr (fours) sum += store_words<std::uint32_t>(kept, 8 * (Bytes & 3), n, payload);
    if constexpr (twos) sum += store_words<std::uint16_t>(kept, 8 * (Bytes & 1), n, payload + at_twos(n));
    if constexpr (ones) sum += store_words<std::uint8_t>(kept, 0, n, payload + at_ones(n));
    return sum;
  }
  static WEFT_INLINE Bits word_at(const std::byte* payload, int n, int i) {
    Bits word = 0;
    if constexpr (fours) word = load<std::uint32_t>(payload, i);
    if constexpr (twos) word = (word << 16) | load<std::uint16_t>(payload + at_twos(n), i);
    if constexpr (ones) word = (word << 8) | load<std::uint8_t>(payload + at_ones(n), i);
    return word;
  }
  static WEFT_INLINE std::uint32_t sum_of(const std::byte* payload, int n) {
    std::uint32_t sum = 0;
    for (int i = 0; i < n; ++i) {
      if constexpr (fours) sum += load<std::uint32_t>(payload, i);
      if constexpr (twos) sum += load<std::uint16_t>(payload + at_twos(n), i);
      if constexpr (ones) sum += load<std::uint8_t>(payload + at_ones(n), i);
    }
    return sum;
  }
  static WEFT_INLINE std::size_t at_twos(int n) { return fours ? 4 * static_cast<std::size_t>(n) : 0; }
  static WEFT_INLINE std::size_t at_ones(int n) {
    return at_twos(n) + (twos ? 2 * static_cast<std::size_t>(n) : 0);
  }
};

}  // namespace weft::codec
