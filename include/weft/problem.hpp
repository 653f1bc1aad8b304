// What is to be computed: the global array, the transform along each axis, the precision, and which rank
// holds which part before and after. A problem is a plain value; it is checked when a Plan is made from it.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "weft/box.hpp"
#include "weft/export.hpp"

namespace weft {

/// The transform along one axis. Forward has exp(-2 pi i jk/n), backward exp(+2 pi i jk/n). Unless the
/// problem asks for scaling, forward followed by backward multiplies by the product of the logical lengths of
/// the axes. The logical length is n for c2c and r2c.
///
/// The cosine and sine transforms (FFTW's REDFT and RODFT) map n real numbers to n real numbers. For complex
/// data they transform real and imaginary parts separately. With j, k from 0 to n-1:
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
/// Backward of types 1 and 4 is the same transform, of type 2 it is type 3, and of type 3 type 2. The logical
/// lengths are 2(n-1) for dct1, 2(n+1) for dst1, and 2n for the others.
enum class Transform {
  none,  ///< the axis is not transformed
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

/// Whether `t` is a cosine or sine transform.
constexpr bool is_r2r(Transform t) {
  return t >= Transform::dct1;
}

/// The elements of an array.
enum class Element { real, complex };

/// Of an even number m of kept modes (`Problem::modes`), what the mode m/2 stands for. `shared`: for m/2
/// periods and for -m/2 alike, as in the transform of m points: forward adds both modes of all points up, and
/// backward gives each one half, so that real data stay real. An r2c axis of m modes counts as that of 2(m-1)
/// points, whose last mode is real: backward ignores its imaginary part. `odd`: the same, but an r2c axis of
/// m modes counts as that of 2m-1 points, whose modes stand for themselves. `single`: the mode m/2 stands for
/// -m/2 alone, and all of r2c for themselves.
enum class ModesNyquist { shared, odd, single };

/// What an execution passes through (`Problem::between`). `none`: it is a transform. `modes`: it goes from
/// points to modes, where an operator may change them, and back to points. `points`: from modes to points,
/// where an operator may change them, and back to modes.
enum class Between { none, modes, points };

/// The factor of a direction's result: 1, 1/sqrt(N) or 1/N, where N is the product of the logical lengths of
/// the transformed axes.
enum class Scale { none, symmetric, full };

/// The type of real numbers, and of the parts of complex ones: float or double.
enum class Precision { float32, float64 };

/// Where arrays lie: in memory of the host, or of the GPU that is current in the calling thread while the
/// plan is made. In a build with HIP, too, that is called cuda.
enum class MemoryKind { host, cuda };

/// Some of the modes along the first axis, one after the other: of a sphere of modes, for example, those with
/// the same numbers along all other axes. Modes are numbered by their periods, so that -3 and n - 3 are the
/// same mode of a c2c axis of n points.
struct ModeColumn {
  Shape first;  ///< the first mode, one number per axis: from -n/2 to n-1; along an r2c axis from 0 to n/2
  Index count = 1;  ///< how many, 1 to n: first[0], first[0] + 1 and so on
  friend bool operator==(const ModeColumn&, const ModeColumn&) = default;
};

/// Which rank holds which part of an array, and in which memory order.
///
/// Named distributions split axes evenly, the larger parts first; ranks without points hold an empty box. The
/// memory order lists the axes from slowest to fastest varying; the default is C order. Memory order, strides
/// and halo may differ from rank to rank. These functions check nothing; errors are found when a plan is
/// made.
class WEFT_API Distribution {
 public:
  /// Which of the functions below made the distribution.
  enum class Kind { slab, pencil, brick, grid, boxes, box, fastest, columns, sphere };

  Distribution() = default;
  /// Slabs: cut along `axis` only.
  static Distribution slab(int axis);
  /// Pencils: whole lines along `local_axis`, cut along the first two other axes by a grid as near to square
  /// as possible. Needs at least three axes.
  static Distribution pencil(int local_axis);
  /// Bricks: cut along the first three axes (or both of two), with the smallest surface per rank.
  static Distribution brick();
  /// Cut into parts[a] parts along axis a; rank numbers run through the grid in C order. The parts multiply
  /// to at most the number of ranks.
  static Distribution grid(AxisVector<int> parts);
  /// One box per rank, in rank order; the same list on every rank. The boxes must tile the array; they may be
  /// empty.
  static Distribution boxes(std::vector<Box> of_all_ranks);
  /// The box of the calling rank. Planning gathers the boxes of all ranks, which must tile the array.
  static Distribution box(Box of_this_rank);
  /// Boxes and memory order that make the transform fastest, chosen by the plan: `Plan::output_box` and
  /// `output_order` tell. After `with_order` the plan chooses only the boxes.
  static Distribution fastest();

  /// Of modes: those of the calling rank, column by column, and no others than those of all ranks together
  /// (plane-wave codes). The rank's array has one axis: its columns one after the other, each from its first
  /// mode on. A column may be on any rank; no two have the same numbers along the axes behind the first.
  /// Forward leaves out the modes of which no column is given; backward takes them as zero, so that of the
  /// modes 0 of an r2c axis both halves are given. They are neither stored nor sent, and lines of them are
  /// not transformed. The transform is c2c along every axis, or r2c along the last and c2c along the others,
  /// of at least two axes, out of place. As the output; with points `between` as both sides,
  /// with the same columns. Planes across the first axis are transformed whole: as many ranks as that axis
  /// has points share them. Takes no memory order, strides or halo. A tolerance is relative to all modes.
  static Distribution columns(std::vector<ModeColumn> of_this_rank);
  /// The same with all modes of at most `radius` periods over all axes, sqrt(k0^2 + k1^2 + ...) <= radius,
  /// shared out so that ranks hold about as many modes each: the longest columns first, each to the rank that
  /// holds least. `Plan::columns` tells which are this rank's.
  static Distribution sphere(double radius);

  /// The same distribution with another memory order on the calling rank.
  Distribution with_order(Order order) const;
  /// The same with strides, in elements, one per axis, of the calling rank's array: one with padding, or a
  /// part of a larger one. The pointers given to `forward` and `backward` point to the first element of the
  /// box. Strides are positive, and sorted by stride each axis has to step over all that the smaller ones
  /// reach, so that no two elements coincide. Elements between those of the box are never touched.
  Distribution with_strides(Strides strides) const;
  /// The same with halo cells or padding: `lower[a]` points before and `upper[a]` after the calling rank's
  /// box along axis a. The array with its halo is dense in its memory order, and the pointers given to
  /// `forward` and `backward` point to its first element, in the halo. Out of place, halos are never touched.
  Distribution with_halo(Shape lower, Shape upper) const;
  /// The same with FFTW's in-place layout of real data: each line along the r2c axis, which is the fastest,
  /// has room for 2(n/2+1) real numbers. Only for the input of an r2c problem.
  Distribution with_r2c_padding() const;

  /// The values given to the functions above. `axis` is the axis of a slab or the local axis of a pencil.
  Kind kind() const { return kind_; }
  int axis() const { return axis_; }
  const AxisVector<int>& parts() const { return parts_; }
  const std::vector<Box>& box_list() const { return boxes_; }
  const std::vector<ModeColumn>& column_list() const { return columns_; }
  double radius() const { return radius_; }
  /// Empty unless given: then C order, or with `fastest` the plan's choice.
  const Order& order() const { return order_; }
  /// Empty unless given.
  const Strides& strides() const { return strides_; }
  /// Empty or zero without a halo.
  const Shape& halo_lower() const { return halo_lower_; }
  const Shape& halo_upper() const { return halo_upper_; }
  /// Whether `with_r2c_padding` was called.
  bool r2c_padding() const { return r2c_padding_; }

 private:
  Distribution(Kind kind, int axis = 0, AxisVector<int> parts = {}, std::vector<Box> boxes = {})
      : kind_(kind), axis_(axis), parts_(parts), boxes_(std::move(boxes)) {}

  Kind kind_ = Kind::slab;
  int axis_ = 0;
  AxisVector<int> parts_;
  std::vector<Box> boxes_;
  std::vector<ModeColumn> columns_;
  double radius_ = 0;
  Order order_;
  Strides strides_;
  Shape halo_lower_, halo_upper_;
  bool r2c_padding_ = false;
};

/// Two lengths whose product is n, as nearly equal as they can be: the axes of a line (`Problem::line`). The
/// second is the larger one. Throws `weft::Error` for less than 4 points and for a prime, of which there is
/// no distributed transform.
WEFT_API Shape line_shape(Index n);

/// A problem. All ranks give the same values, except for their own box or columns, memory orders, strides,
/// halos and distances.
struct Problem {
  /// Global lengths of 1 to 8 axes (7 with a batch); for r2c those of the real array. Transforms over several
  /// ranks need at least 2 axes.
  Shape shape;
  /// One per axis. Empty: c2c along every axis.
  AxisVector<Transform> transforms{};
  /// Two axes {a, b} that are one line of n = shape[a] * shape[b] points: its one-dimensional transform, in
  /// place of those along the axes. Before forward the point j of the line has the indices j / shape[b] along
  /// a and j % shape[b] along b; after it the mode k has k % shape[a] along a and k / shape[a] along b. In C
  /// order the input is the line as it is, and so is an output of order {..., b, a}. Both are c2c, or, of a
  /// real line, one is r2c and has modes as r2c axes have. r2c along b: the modes 0 to n/2, and as many of
  /// those behind them as fill the rows, which are right after forward and ignored by backward; other axes
  /// are not c2c then. r2c along a: the modes k of which k % shape[a] is at most shape[a]/2, or that of their
  /// conjugates n - k is; where both have the remainder 0 or shape[a]/2, both are there. Empty: none.
  /// `line_shape` factors a length.
  AxisVector<int> line{};
  /// The length of the modes along each axis, if not all are kept: those of the lowest frequencies.
  /// Forward leaves the others out, backward takes them as zero (the 3/2 rule: shape 3/2 of what the modes
  /// alone would need). Of a c2c axis of n points the m kept modes are 0 to (m+1)/2 - 1, then -(m/2) to -1 as
  /// in a transform of m points; of r2c and of DCTs and DSTs they are the first m. Scale factors are those of
  /// `shape`, and a tolerance is relative to all modes, those left out included. Lines of which nothing is
  /// kept are not sent, and on the host not transformed. Empty: all. Not along axes of a line.
  Shape modes{};
  /// The length of the points along each axis, if it is shorter than `shape`, which then has the lengths of
  /// the transforms: forward takes the points behind as zero, backward leaves them out (linear convolution:
  /// shape at least as long as both arrays together). Lines of zeros are neither transformed nor sent; a
  /// tolerance is relative to all points, backward. Empty: all. As with `modes`, not along axes of a line.
  Shape points{};
  ModesNyquist modes_nyquist = ModesNyquist::shared;
  /// If it is not `none`, the plan is one for `Plan::apply`: forward, an operator, and backward (`modes`), or
  /// backward, an operator, and forward (`points`), in one execution. Input and output are both points
  /// (`modes`) or both modes (`points`), before and after that, and what lies between is never stored: the
  /// operator works on blocks of it, in the cache where whole lines of what is transformed last fit there.
  /// Both scale factors apply, in both directions of `apply`: with `modes` forward_scale before the operator
  /// and backward_scale behind it, with `points` the other way round. With `modes` and `points` above, what
  /// is cut is zero on the way back (a filter), and products of points are free of aliasing errors (the 3/2
  /// rule). Not with a line.
  Between between = Between::none;
  /// With `between`, the number of arrays after the operator, if it is not that of `batch` before it: 3 of 1
  /// for a gradient, 1 of 2 for a product. 0: as many.
  Index results = 0;
  /// Precision of input and output.
  Precision precision = Precision::float64;
  /// Memory of input and output. Arrays in memory of a GPU start on multiples of 16 bytes.
  MemoryKind memory = MemoryKind::host;
  /// Elements of the points. Unset: real if an axis is r2c, or if there are DCTs or DSTs and no c2c; else
  /// complex. Modes are complex if points are complex or an axis is r2c.
  std::optional<Element> element{};
  /// The array before forward (after backward). Its boxes tile `shape`, or `points`; with points `between`
  /// the same as those of the output.
  Distribution input = Distribution::slab(0);
  /// The array after forward (before backward). Its boxes tile `shape` with n/2+1 points along an r2c axis,
  /// or `modes`; with modes `between` the same as those of the input.
  Distribution output = Distribution::slab(0);
  /// Whether input and output are one array, of `Plan::buffer_bytes()` bytes. The result overwrites whatever
  /// lies in its place, halos of the other side included. If a side has strides, halo or padding, the layouts
  /// have to fit each other: lines of an r2c input have room for 2(n/2+1) real numbers, and where both boxes
  /// are the same, their strides in bytes are equal along all axes but the r2c one.
  bool in_place = false;
  /// Number of arrays of this shape that are transformed together, equal in all that a problem says. With
  /// `between` the operator gets all of them at a time: they are the fields of one point.
  Index batch = 1;
  /// Elements from one array of the batch to the next on this rank; 0: one array follows the other. A
  /// distance smaller than an array interleaves the arrays.
  Index input_distance = 0, output_distance = 0;
  /// Factors of the results of forward and backward.
  Scale forward_scale = Scale::none, backward_scale = Scale::none;
};

}  // namespace weft
