// The step of a DCT or DST before or after its complex FFT, for many lines at once: from lines of real
// numbers in an array to complex lines in work memory ("aside"), or back. This file has the plain data of a
// step; methods.hpp has the formulas, for host and devices.
//
// As the transforms are linear, two lines are transformed together as real and imaginary part of one complex
// line. The FFT library only has to do c2c of dense lines.
#pragma once

#include <array>

#include "weft/axis_vector.hpp"

namespace weft {

/// The methods of computing a DCT or DST by a complex FFT.
enum class R2rMethod { type1, type2, type3, type4_even, type4_odd };

/// Strides are in real numbers in the array, and in complex numbers aside.
struct R2rLoop {
  Index n = 1, array = 0, aside = 0;
};

struct R2rStep {
  static constexpr int most_loops = max_axes + 1;  ///< one more than axes, for real and imaginary parts
  static constexpr int none = -1;

  R2rMethod method = R2rMethod::type2;
  bool sine = false;     ///< a DST
  bool to_aside = true;  ///< before the FFT; else after it
  Index n = 1;           ///< points of a line
  int real_bytes = 8;
  double factor = 1;  ///< of the numbers written

  /// Loops over all complex numbers that the step handles, the innermost first. The loop `along` runs along
  /// the lines: its complex number j consists of the real numbers at j `first_step` and at `second` + j
  /// `second_step` in the array.
  std::array<R2rLoop, most_loops> loops{};
  int count = 0, along = 0;
  Index first_step = 1, second = 0, second_step = 1;
  /// The loop at whose last index the complex lines hold only one line of the array each, with imaginary part
  /// zero.
  int odd = none;
};

}  // namespace weft
