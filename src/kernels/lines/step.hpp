// FFTs of lines whose points lie apart, in place of a library's: plain data of a step. work.hpp has what is
// computed, for host and devices.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <span>

#include "weft/axis_vector.hpp"

namespace weft {

/// A loop over lines. Strides are in complex numbers.
struct LineLoop {
  Index n = 1, from = 0, to = 0;
  Index diverted = 0;  ///< of what is stored elsewhere
};

/// Modes of all lines that are stored in other arrays than the rest: in pieces, each of which has an array of
/// its own. All these arrays have the same strides.
struct DivertedModes {
  static constexpr int most_pieces = 16;

  Index first = 0, count = 0;
  double scale = 1;                        ///< what they are multiplied by, besides what all modes are
  int pieces = 0;                          ///< one at least, if there are any modes
  std::array<Index, most_pieces> begin{};  ///< of each piece, counted from the first of these modes
  friend auto operator<=>(const DivertedModes&, const DivertedModes&) = default;
};

/// All modes are multiplied by exp(-2 pi i k j / N) for the mode k and the index j along one of the loops,
/// where N is the number of points of a line times the length of that loop: with these factors two sets of
/// short transforms make one long one.
struct LineTurn {
  int loop = -1;  ///< none
  /// exp(-2 pi i p / N) for all p of so many bits, and behind them for all p that are multiples of 2 to the
  /// power of that number, in memory of the device: factors are products of two.
  int low_bits = 0;
  const std::byte* roots = nullptr;
};

/// Of rows of real numbers, which side they are on.
enum class RealRows { none, read, stored };

/// A transform of each of many lines of `n` points, which are adjacent in memory: the first loop has
/// stride 1. In the input the points of a line may be adjacent instead, or both these and its modes. Input
/// and output may be the same lines.
struct LineStep {
  static constexpr int most_stages = 8, most_loops = max_axes + 1, largest_radix = 16;
  static constexpr Index most_points = 4096;

  Index n = 1;
  int stages = 0;
  std::array<int, most_stages> radices{};  ///< their product is n
  /// More than one: each group of lines belongs to as many blocks of threads, the first radix, which reach
  /// each other's shared memory (`part_radices`).
  int parts = 1;
  Index from_stride = 1, to_stride = 1;
  std::array<LineLoop, most_loops> loops{};
  int count = 0;  ///< of loops
  bool forward = true;
  int real_bytes = 8;
  double factor = 1;                 ///< of all modes
  const std::byte* roots = nullptr;  ///< exp(-2 pi i k / n) for k < n, in memory of the device
  LineTurn turn = {};
  DivertedModes diverted = {};
  /// Of diverted modes 2 to the power of `diverted_bits` make a group, in which they are `diverted_beside`
  /// apart. The stride is that of groups, and pieces are whole groups, as is the number of butterflies of the
  /// last stage.
  Index diverted_stride = 0, diverted_beside = 0;
  int diverted_bits = 0;
  /// Points are real numbers: each line is two adjacent ones, which are the real and the imaginary parts of
  /// what is transformed; of both the modes up to n / 2 are stored, beside each other. The input's loops
  /// count pairs of numbers as well, and `second_line` is the distance of both lines in numbers.
  bool of_reals = false;
  Index second_line = 0;
  /// Lines are rows of 2 n real numbers, two of which are a point, and on the other side their modes up to n
  /// (`real_rows.hpp`). Points and modes are adjacent. There are no modes elsewhere, factors or parts.
  RealRows real_rows = RealRows::none;
  const std::byte* real_roots = nullptr;  ///< exp(-pi i k / n) for k < n, in memory of the device

  /// Modes of a line, unless it is a row of real numbers.
  Index modes() const { return of_reals ? n / 2 + 1 : n; }
  /// Whether the modes of a line are adjacent where they are stored, and so are its points.
  bool of_rows() const {
    const Index to = diverted.count == n ? diverted_stride : to_stride;
    return loops[0].from != 1 && from_stride == 1 && to == 1;
  }
};

/// Whether blocks of threads can share the lines of a step: they are adjacent in the input as well, and modes
/// have no factors.
inline bool may_have_parts(const LineStep& step) {
  return step.loops[0].from == 1 && step.loops[0].to == 1 && step.turn.loop < 0 && !step.of_reals;
}

/// What a step reads and writes.
struct LineArrays {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::span<std::byte* const> diverted = {};  ///< for each piece, where its first mode goes; or none
};

/// The most blocks of threads that share the lines of a step (`part_radices`).
inline constexpr int most_line_parts = 8;

}  // namespace weft
