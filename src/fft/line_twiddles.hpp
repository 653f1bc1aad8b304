// The factors between the two axes of a line (Problem::line): exp(-2 pi i jk/n) for the index j along the
// axis that is not transformed yet, and the mode k along the other one. They make two sets of short
// transforms one long one (Gentleman and Sande, Fast Fourier transforms: for fun and profit, 1966).
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

#include "fft/local_fft.hpp"
#include "weft/box.hpp"
#include "weft/plan_types.hpp"

namespace weft {

/// The n-th roots of unity, exp(-2 pi i p/n), by products from two tables of about sqrt(n) entries: to two
/// units in the last place.
class UnitRoots {
 public:
  explicit UnitRoots(Index n);
  /// 0 <= p < n
  std::complex<double> operator()(Index p) const {
    const std::complex<double>&a = high_[static_cast<std::size_t>(p >> bits_)],
          &b = low_[static_cast<std::size_t>(p & ((Index{1} << bits_) - 1))];
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

 private:
  int bits_ = 0;
  std::vector<std::complex<double>> high_, low_;
};

class LineTwiddles {
 public:
  /// `box`: the global indices of a part of the array, which has these strides in elements. `line`: its two
  /// axes.
  LineTwiddles(std::shared_ptr<const UnitRoots> roots, std::array<int, 2> line, Direction direction,
               Precision precision, const Box& box, const Strides& strides);

  /// Multiplies one of `parts` nearly equal slices of the elements, which may run at the same time. Allocates
  /// nothing.
  void run(std::byte* data, int part, int parts) const;

 private:
  static constexpr Index block = 64;
  template <class Real>
  void run_with(Real* data, int part, int parts) const;

  std::shared_ptr<const UnitRoots> roots_;
  Precision precision_;
  double sign_;  ///< of the imaginary parts
  /// Of the line's axes: the one with the shorter steps, along which blocks go, and the other one.
  Index inner_first_, inner_n_, inner_stride_, outer_first_, outer_n_, outer_stride_;
  std::vector<FftDimension> others_;  ///< the other axes, which all have the same factors
};

}  // namespace weft
