// What solvers do around a transform: loops over the points of this rank's boxes, the wavenumbers of its
// modes, which modes to keep, how often they count, and sums by shell. Modes are the elements of a plan's
// output.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <vector>

#include "weft/axis_vector.hpp"
#include "weft/box.hpp"
#include "weft/export.hpp"
#include "weft/plan.hpp"

namespace weft {

/// Calls f(index, position) for every point of a box: its index in the global array, and where its element is
/// in an array of these strides, counted from `offset`. In the order of memory. Local.
template <class F>
void for_each_point(const Box& box, const Strides& strides, Index offset, F&& f) {
  if (box.empty()) return;
  const int n = box.ndim();
  AxisVector<int> axes;  // from slowest to fastest in memory
  for (int a = 0; a < n; ++a) axes.push_back(a);
  std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) { return strides[a] > strides[b]; });
  Shape at = box.lo;
  Index position = offset;
  for (int i = n - 1; i >= 0;) {
    f(static_cast<const Shape&>(at), static_cast<std::size_t>(position));
    for (i = n - 1; i >= 0; --i) {  // the next point
      const int a = axes[i];
      position += strides[a];
      if (++at[a] < box.hi[a]) break;
      position -= box.extent(a) * strides[a];
      at[a] = box.lo[a];
    }
  }
}

/// For the points of this rank's input, of the first array of a batch. The others lie `input_distance()`
/// elements further each.
template <class F>
void for_each_input(const Plan& plan, F&& f) {
  for_each_point(plan.input_box(), plan.input_strides(), plan.input_offset(), f);
}
/// For the modes of this rank's output.
template <class F>
void for_each_output(const Plan& plan, F&& f) {
  for_each_point(plan.output_box(), plan.output_strides(), plan.output_offset(), f);
}

/// What the mode n/2 of a c2c or r2c axis of even length n counts as. It stands for n/2 periods and for -n/2
/// alike, so that a derivative of odd order has to leave it out: zero. The same goes for the mode m/2 of an
/// even number m of kept modes along a c2c axis unless modes_nyquist is single, and for the last kept one of
/// an r2c axis if `Problem::modes_nyquist` is shared.
enum class Nyquist { kept, zero };

/// The period of the transform along an axis, in points, from which wavenumbers are counted: n for c2c and
/// r2c, 2(n-1) for dct1, 2(n+1) for dst1, 2n for the other DCTs and DSTs; 1 for an axis that is not
/// transformed. Throws `weft::Error` for an axis that the plan does not have. Local.
WEFT_API Index logical_length(const Plan& plan, int axis);

/// The wavenumbers of this rank's modes along an axis, one for each index of `output_box()`, from its first:
/// how many periods a mode has in the logical length L. Times 2 pi / (L * spacing) they are angular
/// wavenumbers. Of c2c those from n/2 on are negative (-n/2 first, if n is even); those of r2c are not, dct3
/// and dst3, dct4 and dst4 have halves. Zeros along an axis that is not transformed. Of a plan with modes
/// between (`Problem::between`) they are those of all modes, by global index; where modes are given by
/// columns
/// (`Distribution::columns`) there is one number for each element of this rank's output. So it is with the
/// functions below. Throws `weft::Error` for an axis that the plan does not have. Local.
WEFT_API std::vector<double> wavenumbers(const Plan& plan, int axis, Nyquist nyquist = Nyquist::kept);

/// The same of a problem: all modes along an axis, by global index. Local.
WEFT_API std::vector<double> wavenumbers(const Problem& problem, int axis, Nyquist nyquist = Nyquist::kept);

/// The number of axes of a plan's modes, that of `Problem::shape`: also where they are given by columns,
/// whose array has one axis. Local.
WEFT_API int mode_axes(const Plan& plan);

/// Throws `weft::Error` for a plan with modes between, whose output is points. Local.
WEFT_API void check_output_is_modes(const Plan& plan, const char* operation);

/// Calls f(wavenumbers, position) for every mode of this rank's output, of the first array of a batch, in the
/// order of memory: one wavenumber for each axis. Allocates; local.
template <class F>
void for_each_mode(const Plan& plan, F&& f, Nyquist nyquist = Nyquist::kept) {
  check_output_is_modes(plan, "modes");
  const Box& box = plan.output_box();
  const int axes = mode_axes(plan);
  std::vector<std::vector<double>> all;
  for (int a = 0; a < axes; ++a) all.push_back(wavenumbers(plan, a, nyquist));
  AxisVector<double> k(axes, 0);
  for_each_output(plan, [&](const Shape& at, std::size_t position) {
    for (int a = 0; a < axes; ++a) {
      const int counted = box.ndim() == axes ? a : 0;  // of columns, the one axis of the array
      k[a] = all[static_cast<std::size_t>(a)][static_cast<std::size_t>(at[counted] - box.lo[counted])];
    }
    f(static_cast<const AxisVector<double>&>(k), position);
  });
}

/// How often modes count in a sum over all of them, one number for each index of `output_box()` along an
/// axis: 2 along an r2c axis, which leaves out the modes that are conjugates of others, but 1 for mode 0 and
/// for n/2 of even n; 1 along other axes; 1/2 for a kept mode that stands for two, each of which backward
/// gives one half (`ModesNyquist`). With them the squares of modes sum up to scale_factor() times the squares
/// of points (Parseval), if all axes are c2c or r2c, the points have no other modes, and forward does not
/// scale. Local; throws as `wavenumbers`.
WEFT_API std::vector<double> hermitian_weights(const Plan& plan, int axis);

/// 1 for modes that are kept, 0 for others, one number for each index of `output_box()` along an axis: kept
/// are wavenumbers of less than `fraction` of the largest, L/2, which 1 therefore leaves out. With 2/3,
/// products of two fields have no aliasing errors in the modes that are kept (Orszag, J. Atmos. Sci. 28,
/// 1971). Local; throws as `wavenumbers`, and for a fraction that is not between 0 and 1.
WEFT_API std::vector<double> dealiasing_mask(const Plan& plan, int axis, double fraction = 2.0 / 3);

/// The squares of modes summed up by shell: element s is the sum of |mode|^2 over all modes of all ranks, and
/// all arrays of a batch, whose |k| is nearest to s; each counts as often as `hermitian_weights` says. k has
/// the wavenumbers times `units`, one for each axis and the same on all ranks; none: 1. Shells are 1 wide:
/// for a box whose sides differ give units relative to the longest one, L0 / L. If all axes are c2c or r2c,
/// it is the energy spectrum of a velocity field whose components were transformed as a batch with
/// forward_scale full, but for a factor of 1/2.
///
/// `modes`: this rank's output array, on the host, in the plan's precision; real if the plan's output is
/// real. Collective over the plan's ranks, all of which return the same. Throws the same `weft::Error` on all
/// ranks for elements of another type, null pointers, arrays on GPUs, axes that are a line, a plan under way,
/// units that are not finite, differ between ranks, are not one for each axis or make 10 million shells, and
/// no memory.
WEFT_API std::vector<double> shell_spectrum(const Plan& plan, const std::complex<double>* modes,
                                            const AxisVector<double>& units = {});
WEFT_API std::vector<double> shell_spectrum(const Plan& plan, const std::complex<float>* modes,
                                            const AxisVector<double>& units = {});
WEFT_API std::vector<double> shell_spectrum(const Plan& plan, const double* modes,
                                            const AxisVector<double>& units = {});
WEFT_API std::vector<double> shell_spectrum(const Plan& plan, const float* modes,
                                            const AxisVector<double>& units = {});
/// The same for elements of the plan's type, which is not checked.
WEFT_API std::vector<double> shell_spectrum(const Plan& plan, const void* modes,
                                            const AxisVector<double>& units = {});

}  // namespace weft
