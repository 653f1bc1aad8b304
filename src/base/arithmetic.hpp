// Whole numbers: rounding up, signed numbers as positions in a container, and which of several are equal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

namespace weft {

/// a / b, rounded up.
template <class Number>
constexpr Number divided_up(Number a, Number b) {
  return (a + b - 1) / b;
}

/// The least multiple of `unit` that is not below `value`.
template <class Number>
constexpr Number rounded_up(Number value, Number unit) {
  return divided_up(value, unit) * unit;
}

/// The element at a position that is a signed number, such as a rank, a reshape or a tile. `i` is not
/// negative.
template <class Container, class Number>
constexpr decltype(auto) at(Container&& container, Number i) {
  return container[static_cast<std::size_t>(i)];
}

/// Whether all elements are equal.
template <class Range>
bool all_equal(const Range& range) {
  return std::adjacent_find(range.begin(), range.end(), std::not_equal_to<>()) == range.end();
}

/// Whether any two elements are equal.
template <class Range>
bool any_equal(Range range) {
  std::sort(range.begin(), range.end());
  return std::adjacent_find(range.begin(), range.end()) != range.end();
}

}  // namespace weft
