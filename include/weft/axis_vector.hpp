// A vector of at most `max_axes` entries, one per axis of an array, without heap memory. Shapes, corners of
// boxes, strides and axis orders are of this type, so that executions can compute them.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "weft/error.hpp"

namespace weft {

/// The most axes that an array can have.
inline constexpr int max_axes = 8;

/// Positions, extents, strides and counts are 64-bit throughout.
using Index = std::int64_t;

/// Up to `max_axes` values, one per axis.
template <class T>
class AxisVector {
 public:
  /// Empty, or the listed values. Throws `weft::Error` if there are more than 8.
  AxisVector() = default;
  AxisVector(std::initializer_list<T> values) : size_(check(static_cast<int>(values.size()))) {
    int i = 0;
    for (const T& v : values) data_[static_cast<std::size_t>(i++)] = v;
  }
  /// `size` copies of `value`. Throws `weft::Error` if `size` is not in 0..8.
  AxisVector(int size, T value) : size_(check(size)) {
    for (int i = 0; i < size_; ++i) (*this)[i] = value;
  }
  /// The values of a range. Throws `weft::Error` if there are more than 8.
  template <class Iterator>
  static AxisVector from(Iterator first, Iterator last) {
    AxisVector v;
    for (; first != last; ++first) v.push_back(static_cast<T>(*first));
    return v;
  }

  /// As of std::vector; positions are not checked.
  int size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](int i) { return data_[static_cast<std::size_t>(i)]; }
  const T& operator[](int i) const { return data_[static_cast<std::size_t>(i)]; }
  T* begin() { return data_.data(); }
  T* end() { return data_.data() + size_; }
  const T* begin() const { return data_.data(); }
  const T* end() const { return data_.data() + size_; }
  const T& back() const { return (*this)[size_ - 1]; }
  /// Whether one of the values equals `value`.
  bool contains(const T& value) const {
    for (const T& v : *this)
      if (v == value) return true;
    return false;
  }
  /// Throws `weft::Error` if there are 8 values already.
  void push_back(const T& value) {
    check(size_ + 1);
    (*this)[size_++] = value;
  }
  friend bool operator==(const AxisVector& a, const AxisVector& b) {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_; ++i)
      if (!(a[i] == b[i])) return false;
    return true;
  }

 private:
  static int check(int size) {
    if (size < 0 || size > max_axes)
      throw Error("axes", std::to_string(size) + " axes", "at most " + std::to_string(max_axes));
    return size;
  }
  std::array<T, max_axes> data_{};
  int size_ = 0;
};

/// Lengths of an array, or a position in it: one per axis.
using Shape = AxisVector<Index>;
/// Distances in memory, in elements, between neighbours along each axis.
using Strides = AxisVector<Index>;
/// A memory order: the axes of an array from slowest to fastest varying. {0, 1, 2} is C order, {2, 1, 0}
/// Fortran order.
using Order = AxisVector<int>;

}  // namespace weft
