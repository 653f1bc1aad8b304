// Local transforms in the terms of libraries that know one batch of up to three axes, embedded in a larger
// array each (cuFFT's advanced layout): an FFT of any strided box becomes a few such calls, and copies where
// even that does not do. Pure data, computed from the problem without planning anything.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "fft/local_fft.hpp"

namespace weft {

/// Element (b, i, j, k) lies at b distance + ((i embed[1] + j) embed[2] + k) stride, in elements of the side;
/// with fewer axes there is one index fewer. No length is shorter than what it holds, and no stride or
/// distance is 0, not even where a call makes no use of it.
struct EmbeddedSide {
  std::array<Index, 3> embed{};
  Index stride = 1, distance = 0;
  friend auto operator<=>(const EmbeddedSide&, const EmbeddedSide&) = default;
};

/// What one call of the library transforms. Of a real transform the last axis is the one of real lines.
struct EmbeddedCall {
  FftKind kind = FftKind::c2c;
  Direction direction = Direction::forward;
  Precision precision = Precision::float64;
  int axes = 0;
  std::array<Index, 3> n{};
  EmbeddedSide from, to;
  Index batch = 1;
  friend auto operator<=>(const EmbeddedCall&, const EmbeddedCall&) = default;
};

/// The bytes of an element that a call reads, and of one that it writes.
Index from_bytes(const EmbeddedCall& call);
Index to_bytes(const EmbeddedCall& call);

/// "forward c2c of 16x12, batch 3, from 16x12 stride 1 distance 192, to ..."
std::string to_string(const EmbeddedCall& call);

/// A call for every index of `loops`.
struct EmbeddedStep {
  enum class Sides {
    from_to,
    from_only,  ///< in place on what the whole problem reads
    to_only,    ///< in place on what it writes
  };
  Sides sides = Sides::from_to;
  EmbeddedCall call;
  std::vector<FftDimension> loops;
  friend auto operator<=>(const EmbeddedStep&, const EmbeddedStep&) = default;
};

/// A side of the problem that is copied to dense memory aside before the first step, or from there after the
/// last one.
struct EmbeddedAside {
  Shape extents;
  Strides problem, aside;  ///< elements
  int element_bytes = 0;   ///< 0: nothing is
  Index elements = 0;      ///< that the memory aside has
};

struct EmbeddedFft {
  EmbeddedAside from, to;
  std::vector<EmbeddedStep> steps;  ///< none if nothing is transformed
};

/// Why a problem cannot be done, or nothing.
std::string unable_to_embed(const FftProblem& problem);

/// The steps of a problem that can. What a c2r destroys, and real lines that do not start on multiples of a
/// complex element, are copied aside.
EmbeddedFft embed(const FftProblem& problem);

}  // namespace weft
