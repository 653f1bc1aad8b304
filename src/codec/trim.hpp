// Codec trim: sign, exponent and the first bits of the mantissa, rounded to nearest, ties to even, and packed
// to whole bytes. The range is that of the numbers themselves.
#pragma once

#include "codec/block.hpp"

namespace weft::codec {

template <int Bytes, class Real>
struct Trim {
  using I = Ieee<Real>;
  using Bits = typename I::Bits;
  using Code = Bits;  ///< of a number; the lower bytes
  static constexpr int bytes = Bytes;
  static constexpr bool divides = false;
  static_assert(Bytes >= 2 && Bytes < static_cast<int>(sizeof(Real)));

  /// Keeps so many bits of the mantissa.
  static WEFT_INLINE Outcome encode(const Real* reals, int n, int bits, Head* head, std::byte* payload) {
    Bits kept[block_reals];
    const Extent<Real> range = keep(reals, n, bits, kept);
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
    for (int i = first; i < last; ++i) reals[i - first] = number(word_at(payload, n, i), factor);
    return Outcome::good;
  }

  /// As in codec/scaled.hpp.
  static WEFT_INLINE bool is_usual(const Extent<Real>& block, int& shift) {
    shift = 0;
    return (block.any == 0 || block.largest >= small) && block.largest < large;
  }
  static WEFT_INLINE Code code(Real real, Real /*factor*/, int bits) {
    const int cut = I::mantissa - bits;
    const auto given = same_bits<Bits>(real);
    return (given + (Bits{1} << (cut - 1)) - 1 + ((given >> cut) & 1)) >>
           cut << (cut - (I::bits - 8 * Bytes));
  }
  static WEFT_INLINE bool is_usual(const Head& head) { return head.shift == 0 || head.shift == -lift; }
  static WEFT_INLINE Real number(Code code, Real factor) {
    return same_bits<Real>(code << (I::bits - 8 * Bytes)) * factor;
  }

 private:
  /// Blocks of numbers so small that they may be denormal are multiplied by a power of two, so that the bits
  /// that are kept are those that they have.
  static constexpr int lift = I::bias / 2;

  static constexpr std::int32_t upper_one = std::int32_t{1} << (I::mantissa - (I::bits - 32));
  static constexpr std::int32_t small = (I::mantissa + 2) * upper_one;   ///< below: perhaps denormal
  static constexpr std::int32_t large = (I::exponents - 1) * upper_one;  ///< from here on: perhaps infinite

  static WEFT_INLINE Extent<Real> keep(const Real* reals, int n, int bits, Bits* kept) {
    Extent<Real> extent;
    for (int i = 0; i < n; ++i) {
      extent.add(reals[i]);
      kept[i] = code(reals[i], 1, bits);
    }
    return extent;
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

  using W = Words<Bytes>;

  template <auto WordOf>
  static WEFT_INLINE std::uint32_t store_words(const Bits* kept, int n, std::byte* payload) {
    std::uint32_t sum = 0;
    for (int i = 0; i < n; ++i) {
      const auto word = WordOf(kept[i]);
      std::memcpy(payload + static_cast<std::size_t>(i) * sizeof word, &word, sizeof word);
      sum += word;
    }
    return sum;
  }

  static WEFT_INLINE std::uint32_t store(const Bits* kept, int n, std::byte* payload) {
    std::uint32_t sum = 0;
    if constexpr (W::fours) sum += store_words<W::four>(kept, n, payload);
    if constexpr (W::twos) sum += store_words<W::two>(kept, n, payload + W::at_twos(n));
    if constexpr (W::ones) sum += store_words<W::one>(kept, n, payload + W::at_ones(n));
    return sum;
  }
  static WEFT_INLINE Bits word_at(const std::byte* payload, int n, int i) {
    return W::template load<Bits>(payload, n, i);
  }
  static WEFT_INLINE std::uint32_t sum_of(const std::byte* payload, int n) {
    std::uint32_t sum = 0;
    for (int i = 0; i < n; ++i) {
      if constexpr (W::fours) sum += W::template load_word<std::uint32_t>(payload, i);
      if constexpr (W::twos) sum += W::template load_word<std::uint16_t>(payload + W::at_twos(n), i);
      if constexpr (W::ones) sum += W::template load_word<std::uint8_t>(payload + W::at_ones(n), i);
    }
    return sum;
  }
};

}  // namespace weft::codec
