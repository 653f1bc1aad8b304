// What is to be computed: the global array, the transform along each axis, the precision, and who holds which
// part before and after. A problem is a plain value; nothing is checked or computed before a Plan is made
// from it.
#pragma once

#include <optional>
#include <vector>

#include "weft/box.hpp"
#include "weft/export.hpp"

namespace weft {

/// The transform along one axis. Forward is exp(-2 pi i jk/n), backward exp(+2 pi i jk/n), neither scaled
/// unless the problem says so: forward followed by backward multiplies by the product of the logical lengths,
/// n for c2c and r2c.
///
/// The cosine and sine transforms (FFTW's REDFT and RODFT) map n real numbers to n real numbers; of complex
/// data they transform real and imaginary parts alike. With j, k from 0 to n-1:
///
///     dct1  y_k = x_0 + (-1)^k x_(n-1) + 2 sum_(0<j<n-1) x_j cos(pi jk / (n-1))       needs n >= 2
///     dct2  y_k = 2 sum_j x_j cos(pi (j+1/2) k / n)
///     dct3  y_k = x_0 + 2 sum_(j>0) x_j cos(pi j (k+1/2) / n)
///     dct4  y_k = 2 sum_j x_j cos(pi (j+1/2) (k+1/2) / n)
///     dst1  y_k = 2 sum_j x_j sin(pi (j+1) (k+1) / (n+1))
///     dst2  y_k = 2 sum_j x_j sin(pi (j+1/2) (k+1) / n)
///     dst3  y_k = (-1)^k x_(n-1) + 2 sum_(j<n-1) x_j sin(pi (j+1) (k+1/2) / n)
///     dst4  y_k = 2 sum_j x_j sin(pi (j+1/2) (k+1/2) / n)
///
/// Backward of types 1 and 4 is the same transform again, of type 2 it is type 3 and of type 3 type 2. Their
/// logical lengths are 2(n-1) for dct1, 2(n+1) for dst1, and 2n for the others.
enum class Transform {
  none,  ///< the axis is left alone
  c2c,   ///< complex to complex
  r2c,   ///< real to complex: n real points become n/2+1 complex ones; on at most one axis; backward is c2r
  dct1,
  dct2,
  dct3,
  dct4,
  dst1,
  dst2,
  dst3,
  dst4,
};

/// Whether it is one of the cosine and sine transforms.
constexpr bool is_r2r(Transform t) {
  return t >= Transform::dct1;
}

/// What an array consists of.
enum class Element { real, complex };

/// What a direction multiplies its result by: 1, 1/sqrt(N) or 1/N, N being the product of the logical lengths
/// of the transformed axes.
enum class Scale { none, symmetric, full };

/// Of real numbers, and of the parts of complex ones: float and double.
enum class Precision { float32, float64 };

/// Where arrays lie: in memory of the host, or of the GPU that is the calling thread's while the plan is
/// made.
enum class MemoryKind { host, cuda };

/// Who holds which part of an array, and in which memory order.
///
/// A named distribution is resolved when a plan is made: even splits, the larger parts first; ranks without
/// points hold an empty box. The memory order lists the axes from slowest to fastest varying; the default is
/// C order. Each rank may use an order of its own.
class WEFT_API Distribution {
 public:
  /// Which of the functions below made it.
  enum class Kind { slab, pencil, brick, grid, boxes, box, fastest };

  /// Cut along `axis` alone.
  static Distribution slab(int axis);
  /// Whole lines along `local_axis`; cut along the first two of the other axes, as near to square as
  /// possible. Needs three axes.
  static Distribution pencil(int local_axis);
  /// Cut along the first three axes (both axes of an array with two), smallest surface per rank.
  static Distribution brick();
  /// Cut into parts[a] parts along axis a; rank numbers run through the grid in C order. The parts multiply
  /// to at most the number of ranks.
  static Distribution grid(AxisVector<int> parts);
  /// Any boxes that tile the array, one per rank, in rank order, the same list on every rank. Boxes may be
  /// empty.
  static Distribution boxes(std::vector<Box> of_all_ranks);
  /// The calling rank's own box; the boxes of all ranks are gathered and must tile the array.
  static Distribution box(Box of_this_rank);
  /// Whatever makes the transform fastest, boxes and memory order alike: `Plan::output_box` and
  /// `output_order` tell. With `with_order` only the boxes are left to the plan.
  static Distribution fastest();

  /// The same distribution with another memory order on the calling rank.
  Distribution with_order(Order order) const;
  /// The calling rank's array has these strides, in elements, one per axis: an array with padding, or a part
  /// of a larger one. The pointers given to `forward` and `backward` point to the first element of the box.
  /// Every stride is positive, and no two elements may coincide: sorted by stride, each axis has to step over
  /// all that the smaller ones reach. Elements between those of the box are never touched.
  Distribution with_strides(Strides strides) const;
  /// The calling rank's array has `lower[a]` more points before and `upper[a]` after its box along axis a:
  /// halo cells, or padding. The array is dense with these, in its memory order; the pointers given to
  /// `forward` and `backward` point to its very first element. Out of
  /// place, halos are never touched.
  Distribution with_halo(Shape lower, Shape upper) const;
  /// The real side of an r2c transform whose lines along the r2c axis, the fastest one, have room for
  /// 2(n/2+1) real numbers, so that it can be transformed in place where it lies, as FFTW's in-place layout.
  /// Of the input of an r2c problem only.
  Distribution with_r2c_padding() const;

  /// What the functions above were given. `axis` is that of a slab or the local one of a pencil.
  Kind kind() const { return kind_; }
  int axis() const { return axis_; }
  const AxisVector<int>& parts() const { return parts_; }
  const std::vector<Box>& box_list() const { return boxes_; }
  /// Empty: C order, or with `fastest` whatever is fastest.
  const Order& order() const { return order_; }
  /// Empty unless given.
  const Strides& strides() const { return strides_; }
  /// Empty or zero without a halo.
  const Shape& halo_lower() const { return halo_lower_; }
  const Shape& halo_upper() const { return halo_upper_; }
  /// Whether `with_r2c_padding` was asked for.
  bool r2c_padding() const { return r2c_padding_; }

 private:
  Kind kind_ = Kind::slab;
  int axis_ = 0;
  AxisVector<int> parts_;
  std::vector<Box> boxes_;
  Order order_;
  Strides strides_;
  Shape halo_lower_, halo_upper_;
  bool r2c_padding_ = false;
};

/// A problem. All ranks give the same, except for their own box, memory orders, strides,
/// halos and distances.
struct Problem {
  /// Global lengths, 1 to 8 axes (7 with a batch), the logical (real) ones for r2c. Distributed transforms
  /// need at least 2 axes.
  Shape shape;
  /// One per axis; empty: c2c along every axis.
  AxisVector<Transform> transforms{};
  /// Of both sides.
  Precision precision = Precision::float64;
  /// Of both sides. In memory of a GPU, arrays start on multiples of 16 bytes.
  MemoryKind memory = MemoryKind::host;
  /// What the input consists of. Unset: real numbers if an axis is r2c, or if there are DCTs or DSTs and no
  /// c2c; else complex numbers. The output is complex if the input is or an axis is r2c.
  std::optional<Element> element{};
  /// Of the array before forward (after backward). Tiles `shape`.
  Distribution input = Distribution::slab(0);
  /// Of the array after forward (before backward). Tiles `shape`, with n/2+1 points along an r2c axis.
  Distribution output = Distribution::slab(0);
  /// Forward and backward are called with one array, large enough for the larger of input and output. The
  /// result overwrites what lies where it belongs, halos of the other side included. If a side has strides,
  /// halo or padding, the two have to fit: an r2c input of its own layout needs lines of at least 2(n/2+1)
  /// real numbers; and where both boxes are the same, so have to be the strides in bytes, along all axes but
  /// the r2c one.
  bool in_place = false;
  /// Number of arrays of this shape that are transformed together, alike in everything.
  Index batch = 1;
  /// From one array of the batch to the next on this rank, in elements of its side; 0: one behind the other.
  /// May be smaller than an array, for arrays that are interleaved.
  Index input_distance = 0, output_distance = 0;
  /// What forward and backward multiply their result by.
  Scale forward_scale = Scale::none, backward_scale = Scale::none;
};

}  // namespace weft
