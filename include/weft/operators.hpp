// Ready-made operators for Plan::apply on modes (Problem::between modes): derivatives and what is made of
// them, filters and shifts. Each is a value made for a problem, used with any plan of it, and may be called
// by several threads.
#pragma once

#include <complex>
#include <functional>
#include <memory>

#include "weft/axis_vector.hpp"
#include "weft/block.hpp"
#include "weft/export.hpp"
#include "weft/plan.hpp"
#include "weft/problem.hpp"

namespace weft {

/// What it does with the fields of each mode is a small linear map. Calling it throws `weft::Error` for a
/// block of another number of fields or results, and for one of points.
class WEFT_API ModeOperator {
 public:
  /// What computes a block.
  class Work;
  /// The functions below make operators.
  explicit ModeOperator(std::shared_ptr<const Work> work) : work_(std::move(work)) {}
  /// Throws `weft::Error` if it is none for executions of a problem in a direction: for another number of
  /// fields or results, other modes, or real ones. `Plan::apply` calls it before any data move.
  void check(const Problem& problem, Direction direction) const;
  /// Changes the modes of a block.
  void operator()(const Block& block) const;

 private:
  std::shared_ptr<const Work> work_;
};

/// All of these count modes by angular wavenumbers, 2 pi / L times those of `wavenumbers`. `lengths` are the
/// periods L of the transforms, one for each axis of the problem, in the user's unit: the length of the
/// domain along a c2c or r2c axis, and its logical length times the spacing along a DCT or DST axis (twice
/// the domain of dct2). None: 2 pi each. None of them scales: give the problem a scale factor, for which
/// backward_scale full is usual.
///
/// They throw `weft::Error` for a problem that is no operator's on modes, an axis that it does not have, an
/// axis with a DCT or DST where a derivative of odd order would make it a DST or DCT, lengths that are not
/// one positive number for each axis, and numbers of fields that do not fit. Axes that are not transformed
/// have wavenumbers of zero. Local.

/// d^order f / dx^order along an axis, of every field. Of an odd order the modes that stand for n/2 periods
/// and -n/2 alike are zero (`Nyquist::zero`).
WEFT_API ModeOperator derivative(const Problem& problem, int axis, int order = 1,
                                 const AxisVector<double>& lengths = {});
/// The derivatives along all n axes: of m fields m n results, those of the first field first.
WEFT_API ModeOperator gradient(const Problem& problem, const AxisVector<double>& lengths = {});
/// The sum of the derivatives of n components along the n axes: of m n fields m results.
WEFT_API ModeOperator divergence(const Problem& problem, const AxisVector<double>& lengths = {});
/// Of three components along three axes, or of several such fields one after the other: as many results.
WEFT_API ModeOperator curl(const Problem& problem, const AxisVector<double>& lengths = {});
/// What of n components along the n axes has no divergence (Helmholtz, Leray): u - k (k u) / k^2. Mode 0
/// stays.
WEFT_API ModeOperator solenoidal_part(const Problem& problem, const AxisVector<double>& lengths = {});
/// The sum of the second derivatives, of every field: times -k^2.
WEFT_API ModeOperator laplacian(const Problem& problem, const AxisVector<double>& lengths = {});
/// The solution u of (shift - laplacian) u = f, of every field: divided by k^2 + shift. Where that is zero,
/// as for mode 0 without a shift, the mode becomes zero. Poisson's equation -laplacian u = f without one.
WEFT_API ModeOperator inverse_helmholtz(const Problem& problem, double shift = 0,
                                        const AxisVector<double>& lengths = {});
/// f(x + distances), of every field: times exp(i k distances), in the unit of `lengths`. Modes that stand for
/// n/2 and -n/2 alike get the cosine, so that real data stay real.
WEFT_API ModeOperator shift(const Problem& problem, const AxisVector<double>& distances,
                            const AxisVector<double>& lengths = {});
/// Times an array of modes, element by element, of every field: a cyclic convolution with the array that the
/// modes are of, or with `Problem::points` a linear one; conjugated, the correlation. `modes` is this rank's
/// array of the modes in `plan.between_box()`, in C order and in the plan's precision: the output of a plan
/// for the kernel, with the same shape, transforms, kept modes and modes_nyquist, and
/// `Distribution::box(plan.between_box())`. It is in the kind of memory that the plan's arrays are in, on a
/// GPU on a multiple of 16 bytes, and must live until the executions with the operator are complete. Throws
/// `weft::Error` for elements of another type and for other memory.
WEFT_API ModeOperator product(const Plan& plan, const std::complex<double>* modes, bool conjugated = false);
WEFT_API ModeOperator product(const Plan& plan, const std::complex<float>* modes, bool conjugated = false);
/// Times `factor` of |k|, of every field. `factor` is called by several threads. For arrays on the host: with
/// others `Plan::apply` throws.
WEFT_API ModeOperator filter(const Problem& problem, std::function<double(double)> factor,
                             const AxisVector<double>& lengths = {});

}  // namespace weft
