// What an operator between two transforms works on (Plan::apply): a part of the modes, or of the points,
// while it is in the cache.
#pragma once

#include <complex>
#include <string>
#include <type_traits>
#include <utility>

#include "weft/box.hpp"
#include "weft/error.hpp"
#include "weft/problem.hpp"

namespace weft {

/// All fields of some elements: of modes with Problem::between `modes`, of points with `points`. The operator
/// finds `fields` arrays there, as many as the batch has, and leaves `results` ones, in the same memory,
/// which has room for the larger number. Elements outside of the box must not be touched.
struct Block {
  Box box;               ///< the global indices of the elements
  void* data = nullptr;  ///< the first element of the first field
  Strides strides;       ///< from element to element, in elements, one per axis
  Index fields = 1, results = 1;
  Index field_stride = 0;  ///< from field to field, in elements
  Element element = Element::complex;
  Precision precision = Precision::float64;
};

/// The fields of one element: fields[i] is that of the i-th array.
template <class T>
class Fields {
 public:
  Fields(T* first, Index stride) : first_(first), stride_(stride) {}
  T& operator[](Index i) const { return first_[i * stride_]; }

 private:
  T* first_;
  Index stride_;
};

/// Whether a block's elements are of type T: float, double, or std::complex of them.
template <class T>
bool has_elements(const Block& block) {
  constexpr bool is_real = std::is_floating_point_v<T>;
  using Real = std::conditional_t<sizeof(T) == (is_real ? 8 : 16), double, float>;
  static_assert(std::is_same_v<T, Real> || std::is_same_v<T, std::complex<Real>>);
  return (block.element == Element::real) == is_real &&
         (block.precision == Precision::float64) == std::is_same_v<Real, double>;
}

/// Calls f(first, n, stride, index, axis) for every row of a block along the axis that is the fastest in
/// memory: a T* to the first element of the first field, the number of elements and the step between them,
/// and the global index of the first one. Throws `weft::Error` if elements are not of type T. Local.
template <class T, class F>
void for_each_row(const Block& block, F&& f) {
  if (!has_elements<T>(block))
    throw Error("operator", "elements of another type", "those between the transforms of the plan");
  const Box& box = block.box;
  if (box.empty()) return;
  AxisVector<int> axes;  // from slowest to fastest in memory
  for (int a = 0; a < box.ndim(); ++a) {
    axes.push_back(a);
    for (int i = a; i > 0 && block.strides[axes[i]] > block.strides[axes[i - 1]]; --i)
      std::swap(axes[i], axes[i - 1]);
  }
  const int fastest = axes[box.ndim() - 1];
  Shape at = box.lo;
  T* row = static_cast<T*>(block.data);
  for (;;) {
    f(row, box.extent(fastest), block.strides[fastest], static_cast<const Shape&>(at), fastest);
    int i = box.ndim() - 2;
    for (; i >= 0; --i) {  // the next row
      const int a = axes[i];
      row += block.strides[a];
      if (++at[a] < box.hi[a]) break;
      row -= box.extent(a) * block.strides[a];
      at[a] = box.lo[a];
    }
    if (i < 0) return;
  }
}

/// Calls f(fields, index) for every element of a block: `Fields<T>`, and the element's global index, a
/// `Shape`. In the order of memory. Throws as `for_each_row`. Local.
template <class T, class F>
void for_each_element(const Block& block, F&& f) {
  for_each_row<T>(block, [&](T* first, Index n, Index stride, Shape at, int axis) {
    for (Index i = 0; i < n; ++i, ++at[axis])
      f(Fields<T>(first + i * stride, block.field_stride), static_cast<const Shape&>(at));
  });
}

/// An operator by reference, which `Plan::apply` makes: anything that can be called with a const Block&.
class BlockOperator {
 public:
  BlockOperator() = default;  ///< none
  template <class F>
  explicit BlockOperator(const F& f)
      : call_([](const void* op, const Block& block) { (*static_cast<const F*>(op))(block); }), op_(&f) {}

  explicit operator bool() const { return call_ != nullptr; }
  void operator()(const Block& block) const { call_(op_, block); }

 private:
  void (*call_)(const void*, const Block&) = nullptr;
  const void* op_ = nullptr;
};

}  // namespace weft
