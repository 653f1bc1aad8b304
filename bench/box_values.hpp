// The values of a box that lies in an array: fills them, and compares them with what they should be. All
// threads of a pool do so, stretch by stretch where the array is in memory of a device.
#pragma once

#include <cmath>
#include <complex>
#include <vector>

#include "array.hpp"
#include "base/thread_pool.hpp"
#include "clock.hpp"
#include "weft/box.hpp"
#include "weft/modes.hpp"

namespace weft::bench {

/// How the elements of a box lie in an array.
struct BoxInArray {
  Box box;
  Strides strides;      ///< in elements
  bool is_wide = true;  ///< of double precision
  bool is_real = false;
  Index arrays = 1;    ///< of a batch
  Index distance = 0;  ///< between them, in elements

  std::size_t element_bytes() const { return (is_real ? 1u : 2u) * (is_wide ? 8u : 4u); }
};

class BoxValues {
 public:
  /// Without a pool, this thread alone works.
  BoxValues(Array& array, const BoxInArray& where, ThreadPool* pool)
      : array_(array), where_(where), pool_(pool) {}

  /// Stores `value(point, item)`, a complex number.
  template <class Value>
  void fill(const Value& value) {
    const std::size_t bytes = where_.element_bytes();
    for_stretches([&](const Box& box, Index item, Index first, Index points) {
      void* const at = array_.stretch(first * bytes, points * bytes, points != box.count());
      for_all(box,
              [&](int, const Shape& point, std::size_t position) { put(at, position, value(point, item)); });
      array_.store();
    });
  }

  /// The relative L2 error against `value(point, item)`, over all ranks. Collective.
  template <class Value>
  double error(const Comm& comm, const Value& value) {
    struct alignas(64) Sums {
      double difference = 0, norm = 0;
    };
    std::vector<Sums> sums(static_cast<std::size_t>(parts()));
    const std::size_t bytes = where_.element_bytes();
    for_stretches([&](const Box& box, Index item, Index first, Index points) {
      const void* const at = array_.stretch(first * bytes, points * bytes, true);
      for_all(box, [&](int part, const Shape& point, std::size_t position) {
        const std::complex<double> exact = value(point, item);
        Sums& s = sums[static_cast<std::size_t>(part)];
        s.difference += std::norm(get(at, position) - exact);
        s.norm += std::norm(exact);
      });
    });
    double difference = 0, norm = 0;
    for (const Sums& s : sums) {
      difference += s.difference;
      norm += s.norm;
    }
    difference = sum(comm, difference);
    norm = sum(comm, norm);
    return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
  }

 private:
  /// Element `position` as a complex number.
  std::complex<double> get(const void* base, std::size_t position) const {
    const auto number = [&](std::size_t i) {
      return where_.is_wide ? static_cast<const double*>(base)[i]
                            : static_cast<double>(static_cast<const float*>(base)[i]);
    };
    return where_.is_real ? std::complex<double>(number(position))
                          : std::complex<double>(number(2 * position), number(2 * position + 1));
  }
  void put(void* base, std::size_t position, std::complex<double> v) const {
    const auto set = [&](std::size_t i, double x) {
      if (where_.is_wide) {
        static_cast<double*>(base)[i] = x;
      } else {
        static_cast<float*>(base)[i] = static_cast<float>(x);
      }
    };
    if (where_.is_real) return set(position, v.real());
    set(2 * position, v.real());
    set(2 * position + 1, v.imag());
  }

  /// Calls `f(part, point, position)` for all points of a box, by all threads; positions count from its
  /// first.
  template <class F>
  void for_all(const Box& box, const F& f) {
    const Strides& strides = where_.strides;
    int longest = 0;
    for (int a = 0; a < box.ndim(); ++a)
      if (box.extent(a) > box.extent(longest)) longest = a;
    const auto slice = [&](int part) {
      Box some = box;
      some.lo[longest] = box.lo[longest] + box.extent(longest) * part / parts();
      some.hi[longest] = box.lo[longest] + box.extent(longest) * (part + 1) / parts();
      for_each_point(some, strides, (some.lo[longest] - box.lo[longest]) * strides[longest],
                     [&](const Shape& at, std::size_t position) { f(part, at, position); });
    };
    if (pool_ == nullptr) return slice(0);
    pool_->run(parts(), slice);
  }
  int parts() const { return pool_ != nullptr ? 4 * pool_->threads() : 1; }

  /// Calls `f(box, item, first, points)` for stretches of an array that are short enough: where the first
  /// point of the box is, and how many there are up to its last, with gaps.
  template <class F>
  void for_stretches(const F& f) {
    const Index most = array_.longest() / where_.element_bytes();
    for (Index item = 0; item < where_.arrays && !where_.box.empty(); ++item)
      halve(where_.box, where_.strides, item * where_.distance, most,
            [&](const Box& part, Index first, Index points) { f(part, item, first, points); });
  }

  /// Along the axis of the longest strides, so that halves do not interleave.
  template <class F>
  static void halve(const Box& box, const Strides& strides, Index first, Index most, const F& f) {
    Index points = 1;
    int axis = -1;
    for (int a = 0; a < box.ndim(); ++a) {
      points += (box.extent(a) - 1) * strides[a];
      if (box.extent(a) > 1 && (axis < 0 || strides[a] > strides[axis])) axis = a;
    }
    if (points <= most || axis < 0) return f(box, first, points);
    Box lower = box, upper = box;
    lower.hi[axis] = upper.lo[axis] = box.lo[axis] + box.extent(axis) / 2;
    halve(lower, strides, first, most, f);
    halve(upper, strides, first + box.extent(axis) / 2 * strides[axis], most, f);
  }

  Array& array_;
  BoxInArray where_;
  ThreadPool* pool_;
};

}  // namespace weft::bench
