// Codec zfp: the sizes and the bound of what libzfp codes in fixed rate (kernels/cpu/zfp.hpp). It codes four
// numbers at a time, together, in four times the rate of bits; the real and the imaginary parts of a block
// each by themselves. Why the bound is what it is, is in ADR 0028.
#pragma once

namespace weft::codec {

/// Numbers that libzfp codes together.
inline constexpr int zfp_four = 4;
/// A block is coded as if it had a multiple of so many reals: whole fours of real and of imaginary parts.
inline constexpr int zfp_group = 2 * zfp_four;

/// The relative error is at most two to the power of this.
constexpr int zfp_error_exponent(int rate) {
  return 8 - rate;
}

}  // namespace weft::codec
