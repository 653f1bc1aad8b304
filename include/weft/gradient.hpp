// The gradient of fields by one transform along each axis: fewer passes and exchanges than a transform along
// all axes, an operator, and one transform back for each derivative (`gradient` of weft/operators.hpp).
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>

#include "weft/axis_vector.hpp"
#include "weft/comm.hpp"
#include "weft/export.hpp"
#include "weft/options.hpp"
#include "weft/plan.hpp"
#include "weft/problem.hpp"

namespace weft {

/// The derivatives of fields along all axes that are transformed, ready to be executed. Each is taken by a
/// plan of its own, which transforms lines along that axis, multiplies them by i k, and transforms them back:
/// half of the lines that go through one transform and n back. Along an axis that no rank shares with others
/// nothing is exchanged: of three axes in slabs, along two of them. Can be moved, not copied.
class WEFT_API Gradient {
 public:
  /// Collective over `comm`. `problem`: points before and behind, as for a plan: shape, transforms (c2c, or
  /// r2c for real points, of which the last axis is not special here, or none), precision, memory, batch,
  /// and who holds which points of the fields (`input`) and of each derivative (`output`, which may have
  /// other boxes and strides). `output_distance` is that from one derivative to the next. Scale factors do
  /// not count: the results are the derivatives. `lengths`: the periods along each axis of the problem, in
  /// the user's unit; none: 2 pi each. Options are those of every plan. The modes that stand for n/2 periods
  /// and -n/2 alike count as zero (`Nyquist::zero`).
  ///
  /// Throws `weft::Error`, on all ranks alike, for DCTs and DSTs, in place, kept modes, given points, a line,
  /// something between, no transformed axis, distributions by columns and fastest, lengths that are not one
  /// positive number for each axis, and where planning fails.
  Gradient(const Comm& comm, const Problem& problem, const Options& options = {},
           const AxisVector<double>& lengths = {});
  ~Gradient();
  Gradient(Gradient&&) noexcept;
  Gradient& operator=(Gradient&&) noexcept;

  /// Of m fields (the batch) and n transformed axes m n derivatives: those of the first field first, in the
  /// order of the axes. Collective. `in` is left as it was, and must not overlap `out`. Elements are of the
  /// problem's precision, real or complex as its points are; void pointers are not checked. A rank whose box
  /// is empty may pass null. Errors are those of `Plan::apply`.
  template <class In, class Out>
  void operator()(const In* in, Out* out) {
    execute(in, out, is_of<In>() && is_of<Out>());
  }

  /// As of a plan: later executions are enqueued on this stream.
  void set_stream(CUstream_st* stream);
  /// The same with HIP's stream, in a build with HIP.
  template <std::same_as<ihipStream_t> HipStream>
  void set_stream(HipStream* stream) {
    set_stream(reinterpret_cast<CUstream_st*>(stream));
  }

  /// This rank's boxes, memory orders, strides, and elements from a pointer to the first point of the box.
  const Box& input_box() const;
  const Box& output_box() const;
  const Order& input_order() const;
  const Order& output_order() const;
  const Strides& input_strides() const;
  const Strides& output_strides() const;
  Index input_offset() const;
  Index output_offset() const;
  /// Elements from one field to the next, and from one derivative to the next.
  Index input_distance() const;
  Index output_distance() const;
  /// Elements of this rank's arrays: of all fields, and of all derivatives.
  std::size_t input_count() const;
  std::size_t output_count() const;
  /// Of all plans on this rank.
  std::size_t workspace_bytes() const;
  /// Which axes are transformed, and the plan of the derivative along each.
  const AxisVector<int>& axes() const;
  const Plan& along(int axis) const;
  /// What each derivative does.
  std::string to_string() const;

 private:
  friend struct GradientFacts;
  Gradient(const Comm& comm, const Problem& problem, const Options& options,
           const AxisVector<double>& lengths, bool last_axis_first);

  template <class T>
  bool is_of() const {
    return std::is_void_v<T> || (std::is_same_v<T, float> && has_elements(Element::real, 4)) ||
           (std::is_same_v<T, double> && has_elements(Element::real, 8)) ||
           (std::is_same_v<T, std::complex<float>> && has_elements(Element::complex, 4)) ||
           (std::is_same_v<T, std::complex<double>> && has_elements(Element::complex, 8));
  }
  bool has_elements(Element element, int real_bytes) const;
  void execute(const void* in, void* out, bool is_of_type);

  struct Impl;
  Impl& impl() const;  ///< throws for one that has been moved away
  std::unique_ptr<Impl> impl_;
};

}  // namespace weft
