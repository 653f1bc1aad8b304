// Half of a DCT or DST of many lines at once, the part that is not a complex FFT: from lines of real numbers
// in an array to complex lines aside, or from there back. Plain data that says which lines and what becomes
// of them; the formulas lie beside this file, one method each, for any processor.
//
// A DCT or DST is linear, so that two lines, as real and imaginary parts of one complex line, are transformed
// together by formulas for real numbers. All that is asked of an FFT library is then c2c of dense lines.
#pragma once

#include <array>

#include "weft/axis_vector.hpp"

namespace weft {

/// How a DCT or DST becomes a complex FFT.
enum class R2rMethod { type1, type2, type3, type4_even, type4_odd };

/// Strides in real numbers of the array, and in complex numbers aside.
struct R2rLoop {
  Index n = 1, array = 0, aside = 0;
};

struct R2rStep {
  static constexpr int most_loops = max_axes + 1;  ///< an array of complex numbers has one for their parts
  static constexpr int none = -1;

  R2rMethod method = R2rMethod::type2;
  bool sine = false;     ///< a DST
  bool to_aside = true;  ///< else back from there
  Index n = 1;           ///< points of a line
  int real_bytes = 8;
  double factor = 1;  ///< what is written is multiplied by it

  /// All that is written, one complex number at a time, the innermost loop first. One loop runs along the
  /// lines: its complex number j is in the array the real numbers j `first_step` and `second` + j
  /// `second_step` further on.
  std::array<R2rLoop, most_loops> loops{};
  int count = 0, along = 0;
  Index first_step = 1, second = 0, second_step = 1;
  /// The loop whose last index has lines without a second one, so that their imaginary part is zero.
  int odd = none;
};

}  // namespace weft
