// The answer, computed another way: direct sums per axis in long double.
#pragma once

#include <complex>
#include <vector>

#include "weft/problem.hpp"

namespace weft::test {

using Exact = std::complex<long double>;

/// The forward transform of a whole array in C order, by the definition: one direct sum per transformed axis;
/// an r2c axis keeps its first n/2+1 points.
std::vector<Exact> direct_sum(const Shape& shape, const AxisVector<Transform>& transforms,
                              const std::vector<Exact>& values);

/// Relative L2 error of the serial FFTW transform of the same values in the given precision: what a
/// distributed transform is held against.
double serial_fftw_error(const Shape& shape, const AxisVector<Transform>& transforms, Precision precision,
                         const std::vector<Exact>& values, const std::vector<Exact>& exact);

/// The bound of the design: max(2 x serial FFTW's error, 2 eps sqrt(1 + log2 N)), N the transformed points.
double error_bound(const Shape& shape, const AxisVector<Transform>& transforms, Precision precision,
                   double serial_error);

}  // namespace weft::test
