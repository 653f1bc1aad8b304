// Facts about the transform along one axis: its name, its inverse, its lengths.
#pragma once

#include <cstdint>
#include <string>

#include "weft/plan_types.hpp"
#include "weft/problem.hpp"

namespace weft {

const char* name_of(Transform transform);

/// The transform of the backward direction, which inverts `transform` up to a factor: dct3 for dct2. c2c and
/// r2c, which have a direction of their own, stay the same.
Transform opposite(Transform transform);

/// The factor of a transform of n points followed by its opposite: n, 2(n-1), 2n or 2(n+1); 1 for none.
Index logical_length(Transform transform, Index n);

/// Whether kernels of line FFTs on GPUs have radices for lines of so many points.
inline bool has_small_factors(Index n) {
  constexpr Index most = 4096;
  if (n < 1 || n > most) return false;
  for (const Index factor : {2, 3, 5, 7})
    while (n % factor == 0) n /= factor;
  return n == 1;
}

/// The shape after the forward transforms: n/2+1 along an r2c axis.
Shape output_shape(const Shape& shape, const AxisVector<Transform>& transforms);

/// The modes of a problem: those that are kept.
inline Shape modes_of(const Problem& problem) {
  return problem.modes.empty() ? output_shape(problem.shape, problem.transforms) : problem.modes;
}
/// The points of a problem: those that are given.
inline const Shape& points_of(const Problem& problem) {
  return problem.points.empty() ? problem.shape : problem.points;
}
/// The shapes of a problem's arrays, before and after an execution forward.
inline Shape input_shape(const Problem& problem) {
  return problem.between == Between::points ? modes_of(problem) : points_of(problem);
}
inline Shape output_shape(const Problem& problem) {
  return problem.between == Between::modes ? points_of(problem) : modes_of(problem);
}

/// How many arrays an execution in a direction begins with: those of the batch, or, backward, what an
/// operator makes of them.
inline Index arrays_of(const Problem& problem, Direction direction) {
  return direction == Direction::forward || problem.results == 0 ? problem.batch : problem.results;
}
/// Whether there are several arrays on either side.
inline bool has_batch(const Problem& problem) {
  return problem.batch > 1 || problem.results > 1;
}

/// Whether an array has modes that are given column by column.
inline bool has_columns(const Distribution& d) {
  return d.kind() == Distribution::Kind::columns || d.kind() == Distribution::Kind::sphere;
}

/// What a local transform does, forward, for the first modes of a real line (`splits_line`). On the way there
/// the array has an axis of two halves: the first modes themselves, of which those k whose remainder by the
/// line's first length is up to half of it, and for the others the conjugates of the modes n - k (ADR 0046).
enum class Halves : std::uint8_t {
  none,
  split,  ///< the modes of the FFT along the second axis of the line become two halves
  join,   ///< no FFT: both halves become one array, whose first axis of the line has all of its length
};

/// Whether the output has the first modes of a real line (`Problem::line`): its array has two halves on the
/// way there. A line of which one length is 1 is a transform along the other axis.
inline bool splits_line(const Problem& problem) {
  return !problem.line.empty() && problem.transforms[problem.line[1]] == Transform::r2c &&
         problem.shape[problem.line[0]] > 1 && problem.shape[problem.line[1]] > 1;
}

/// The product of the logical lengths of all transformed axes.
double logical_size(const Shape& shape, const AxisVector<Transform>& transforms);

/// The size of a real number of this precision, in bytes.
inline Index real_bytes(Precision precision) {
  return precision == Precision::float64 ? 8 : 4;
}

/// "c2c,none,r2c"
std::string to_string(const AxisVector<Transform>& transforms);

}  // namespace weft
