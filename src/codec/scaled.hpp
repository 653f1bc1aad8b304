// Blocks of a narrower format (fp32.hpp, fp16.hpp, bf16.hpp). All numbers of a block are divided by one power
// of two, which follows from its largest finite number, so that none overflows, and none vanishes beside it
// that the format could hold. Infinities, NaN and the signs of zeros stay what they are.
#pragma once

#include "codec/block.hpp"

namespace weft::codec {

template <class Format, class Real>
struct Scaled {
  using Code = typename Format::Word;  ///< of a number
  using I = Ieee<Real>;
  static constexpr int bytes = sizeof(Code);
  static constexpr bool divides = true;  ///< the numbers of usual blocks, too, by a power of two

  /// Whether every number of a block can be coded by itself, and the power of two by which they are divided.
  static WEFT_INLINE bool is_usual(const Extent<Real>& block, int& shift) {
    const int exponent = block.any == 0 ? 0 : (block.largest >> upper_mantissa) - I::bias;
    shift = block.any == 0 ? 0 : Format::shift_of(exponent);
    return exponent > -I::bias && exponent < I::bias && shift > -I::bias && shift < I::bias;
  }
  /// Of such a block, all of whose numbers are finite.
  static WEFT_INLINE Code code(Real real, Real factor, int /*bits*/) {
    return Format::narrow_finite(static_cast<float>(real * factor));
  }
  /// Whether every number of a block can be decoded by itself.
  static WEFT_INLINE bool is_usual(const Head& head) { return head.shift > -I::bias && head.shift < I::bias; }
  static WEFT_INLINE Real number(Code code, Real factor) {
    return static_cast<Real>(Format::widen(code)) * factor;
  }

  /// Encodes `n` reals, at most a block.
  static WEFT_INLINE Outcome encode(const Real* reals, int n, int /*bits*/, Head* head, std::byte* payload) {
    Extent<Real> extent;
    for (int i = 0; i < n; ++i) extent.add(reals[i]);
    int shift = 0;
    if (!is_usual(extent, shift)) return encode_unusual(reals, n, head, payload);
    const Real factor = power_of_two<Real>(-shift);
    std::uint32_t sum = 0;
    for (int i = 0; i < n; ++i) {
      const Code word = code(reals[i], factor, 0);
      std::memcpy(payload + i * bytes, &word, sizeof word);
      sum += word;
    }
    *head = head_of(shift, sum);
    return Outcome::good;
  }

  /// Decodes the numbers `first` to `last` of a block of `n`. The payload is checked with its first number.
  static WEFT_INLINE Outcome decode(const Head& head, const std::byte* payload, int n, int first, int last,
                                    int /*bits*/, Real* reals) {
    if (first == 0 && !fits(head, sum_of(payload, n))) return Outcome::damaged;
    if (!is_usual(head)) return decode_unusual(head.shift, payload, first, last, reals);
    const Real factor = power_of_two<Real>(head.shift);
    for (int i = first; i < last; ++i) reals[i - first] = number(word_at(payload, i), factor);
    return Outcome::good;
  }

 private:
  static constexpr int upper_mantissa = I::mantissa - (I::bits - 32);

  static WEFT_INLINE Code word_at(const std::byte* payload, int i) {
    return Words<bytes>::template load_word<Code>(payload, i);
  }
  static WEFT_INLINE std::uint32_t sum_of(const std::byte* payload, int n) {
    std::uint32_t sum = 0;
    for (int i = 0; i < n; ++i) sum += word_at(payload, i);
    return sum;
  }

  /// A block with infinities or NaN, of nothing but zeros or denormals, or at the ends of the range.
  static WEFT_ANYWHERE Outcome encode_unusual(const Real* reals, int n, Head* head, std::byte* payload) {
    int shift = 0;
    Real largest = 0;
    for (int i = 0; i < n; ++i) {
      const Real size = std::fabs(reals[i]);
      if (size <= same_bits<Real>(I::infinity - 1) && size > largest) largest = size;
    }
    if (largest > 0) {
      int above = 0;
      std::frexp(largest, &above);
      shift = Format::shift_of(above - 1);
    }
    std::uint32_t sum = 0;
    Outcome outcome = Outcome::good;
    for (int i = 0; i < n; ++i) {
      const Code word = Format::narrow(static_cast<float>(std::ldexp(reals[i], -shift)));
      std::memcpy(payload + i * bytes, &word, sizeof word);
      sum += word;
      const Real back = std::ldexp(static_cast<Real>(Format::widen(word)), shift);
      if (std::fabs(reals[i]) <= same_bits<Real>(I::infinity - 1) &&
          std::fabs(back) > same_bits<Real>(I::infinity - 1))
        outcome = Outcome::overflow;
    }
    *head = head_of(shift, sum);
    return outcome;
  }

  static WEFT_ANYWHERE Outcome decode_unusual(int shift, const std::byte* payload, int first, int last,
                                              Real* reals) {
    if (shift < -I::bias - I::mantissa - 16 || shift > I::bias) return Outcome::damaged;
    for (int i = first; i < last; ++i)
      reals[i - first] = std::ldexp(static_cast<Real>(Format::widen(word_at(payload, i))), shift);
    return Outcome::good;
  }
};

}  // namespace weft::codec
