#include "geometry/transform.hpp"

#include <array>

namespace weft {

const char* name_of(Transform transform) {
  constexpr std::array names{"none", "c2c",  "r2c",  "dct1", "dct2", "dct3",
                             "dct4", "dst1", "dst2", "dst3", "dst4"};
  return names[static_cast<std::size_t>(transform)];
}

Transform opposite(Transform transform) {
  using enum Transform;
  constexpr std::array<std::array<Transform, 2>, 2> inverses{{{dct2, dct3}, {dst2, dst3}}};
  for (const auto& [a, b] : inverses)
    if (transform == a || transform == b) return transform == a ? b : a;
  return transform;
}

Index logical_length(Transform transform, Index n) {
  if (transform == Transform::none) return 1;
  if (!is_r2r(transform)) return n;
  return transform == Transform::dct1 ? 2 * (n - 1) : transform == Transform::dst1 ? 2 * (n + 1) : 2 * n;
}

Shape output_shape(const Shape& shape, const AxisVector<Transform>& transforms) {
  Shape s = shape;
  for (int a = 0; a < s.size(); ++a)
    if (transforms[a] == Transform::r2c) s[a] = shape[a] / 2 + 1;
  return s;
}

double logical_size(const Shape& shape, const AxisVector<Transform>& transforms) {
  double size = 1;
  for (int a = 0; a < shape.size(); ++a) size *= static_cast<double>(logical_length(transforms[a], shape[a]));
  return size;
}

std::string to_string(const AxisVector<Transform>& transforms) {
  std::string text;
  for (Transform t : transforms) text += (text.empty() ? "" : ",") + std::string(name_of(t));
  return text;
}

}  // namespace weft
