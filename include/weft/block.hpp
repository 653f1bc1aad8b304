// What an operator between two transforms works on (Plan::apply): a part of the modes, or of the points, on
// the host while it is in the cache.
#pragma once

#include <complex>
#include <string>
#include <type_traits>
#include <utility>

#include "weft/box.hpp"
#include "weft/error.hpp"
#include "weft/plan_types.hpp"
#include "weft/problem.hpp"

namespace weft {

class DeviceStream;

/// All fields of some elements: of modes with Problem::between `modes`, of points with `points`. The operator
/// finds `fields` arrays there, as many as the batch has, and leaves `results` ones, in the same memory,
/// which has room for the larger number; what lies behind `fields` is undefined at first. Elements outside of
/// the box must not be touched.
///
/// In memory of a GPU the operator enqueues its work on `stream` and returns; what it enqueues elsewhere must
/// be ordered before what comes on that stream next.
struct Block {
  Box box;                                   ///< the global indices of the elements
  void* data = nullptr;                      ///< the first element of the first field
  Strides strides;                           ///< from element to element, in elements, one per axis
  Index fields = 1;                          ///< arrays that are there
  Index results = 1;                         ///< arrays to be left
  Index field_stride = 0;                    ///< from field to field, in elements
  Element element = Element::complex;        ///< type of the elements
  Precision precision = Precision::float64;  ///< and of their real numbers
  MemoryKind memory = MemoryKind::host;      ///< what `data` is in
  void* stream = nullptr;         ///< in memory of a GPU: the cudaStream_t or hipStream_t of the execution
  DeviceStream* queue = nullptr;  ///< the same, for operators of Weft
};

/// The fields of one element: fields[i] is that of the i-th array.
template <class T>
class Fields {
 public:
  /// Where the first one is, and how many elements there are from one to the next.
  Fields(T* first, Index stride) : first_(first), stride_(stride) {}
  /// The element of the i-th array.
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
    // Along an axis of one element the stride says nothing.
    const auto slower = [&](int b, int c) {
      return box.extent(c) > 1 && (box.extent(b) == 1 || block.strides[b] > block.strides[c]);
    };
    for (int i = a; i > 0 && slower(axes[i], axes[i - 1]); --i) std::swap(axes[i], axes[i - 1]);
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

/// An operator by reference, which `Plan::apply` makes: anything that can be called, as const, with a const
/// Block&. If it has a member check(problem, direction), that says before any data move whether it is one for
/// such executions, by throwing.
class BlockOperator {
 public:
  BlockOperator() = default;  ///< none
  /// Of `f`, which must live as long as the operator is used.
  template <class F>
  explicit BlockOperator(const F& f) {
    static_assert(std::is_invocable_v<const F&, const Block&>,
                  "an operator is called with a const weft::Block&, as const: by several threads");
    if constexpr (std::is_function_v<F>) {
      function_ = &f;
      call_ = [](const BlockOperator& op, const Block& block) { op.function_(block); };
    } else {
      object_ = &f;
      call_ = [](const BlockOperator& op, const Block& block) {
        (*static_cast<const F*>(op.object_))(block);
      };
    }
    if constexpr (requires(const Problem& p) { f.check(p, Direction::forward); })
      check_ = [](const void* op, const Problem& p, Direction d) { static_cast<const F*>(op)->check(p, d); };
  }

  /// Whether there is one.
  explicit operator bool() const { return call_ != nullptr; }
  /// Changes a block.
  void operator()(const Block& block) const { call_(*this, block); }
  /// Throws if the operator is none for executions of a problem in a direction.
  void check(const Problem& problem, Direction direction) const {
    if (check_ != nullptr) check_(object_, problem, direction);
  }

 private:
  void (*call_)(const BlockOperator&, const Block&) = nullptr;
  void (*check_)(const void*, const Problem&, Direction) = nullptr;
  const void* object_ = nullptr;
  void (*function_)(const Block&) = nullptr;
};

}  // namespace weft
