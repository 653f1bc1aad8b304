// Whole arrays of exact numbers in C order, beside the parts of them that ranks hold.
#pragma once

#include <type_traits>

#include "support/reference.hpp"

namespace weft::test {

/// Where the element of an index is in a whole array.
inline Index position(const Shape& shape, const Shape& at) {
  Index i = 0;
  for (int a = 0; a < shape.size(); ++a) i = i * shape[a] + at[a];
  return i;
}

/// A number in the type of an array: real numbers are the real part.
template <class T>
T narrowed(const Exact& v) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(v.real());
  } else {
    return T(v);
  }
}

}  // namespace weft::test
