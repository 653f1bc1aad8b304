// Facts about the transform along one axis: its name, its inverse, its lengths.
#pragma once

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

/// The product of the logical lengths of all transformed axes.
double logical_size(const Shape& shape, const AxisVector<Transform>& transforms);

/// The size of a real number of this precision, in bytes.
inline Index real_bytes(Precision precision) {
  return precision == Precision::float64 ? 8 : 4;
}

/// "c2c,none,r2c"
std::string to_string(const AxisVector<Transform>& transforms);

}  // namespace weft
