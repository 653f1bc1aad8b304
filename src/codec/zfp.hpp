// Codecs zfp and zfp-accuracy: the sizes and the bounds of what libzfp codes in fixed rate and in fixed
// accuracy (kernels/cpu/zfp.hpp). It codes four numbers at a time, together; the real and the imaginary parts
// of a block each by themselves. Why sizes and bounds are what they are, is in ADR 0028.
#pragma once

namespace weft::codec {

/// Numbers that libzfp codes together.
inline constexpr int zfp_four = 4;
/// A block is coded as if it had a multiple of so many reals: whole fours of real and of imaginary parts.
inline constexpr int zfp_group = 2 * zfp_four;

/// Fixed rate: the relative error is at most two to the power of this.
constexpr int zfp_error_exponent(int rate) {
  return 8 - rate;
}

/// Fixed accuracy, every number within 2^-m of the largest of its block: the relative error of the block is
/// at most two to the power of this.
constexpr int zfp_accuracy_error_exponent(int m) {
  return 2 - m;
}
/// The most bits that a four then takes.
constexpr int zfp_accuracy_four_bits(int m) {
  return 4 * m + 35;
}
/// The bits for each number that have room for any block, with its length in front.
constexpr int zfp_accuracy_room_bits(int m) {
  return m + 11;
}

}  // namespace weft::codec
