// Facts about the transform along one axis: its name, its inverse, its lengths.
#pragma once

#include <string>

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

/// The same, where not all modes are kept: `modes`, if there are any.
inline Shape output_shape(const Problem& problem) {
  return problem.modes.empty() ? output_shape(problem.shape, problem.transforms) : problem.modes;
}
/// The shape before forward: `points`, if there are any.
inline const Shape& input_shape(const Problem& problem) {
  return problem.points.empty() ? problem.shape : problem.points;
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
