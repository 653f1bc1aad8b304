// The answer, computed another way: direct sums per axis in long double.
#pragma once

#include <complex>
#include <vector>

#include "weft/plan_types.hpp"
#include "weft/problem.hpp"

namespace weft::test {

using Exact = std::complex<long double>;

/// The forward transform of a whole array in C order, by the definitions of `Transform`: one direct sum per
/// transformed axis; an r2c axis keeps its first n/2+1 points; one for both axes of a line,
/// one of which may be r2c and keeps so many, too.
std::vector<Exact> direct_sum(const Shape& shape, const AxisVector<Transform>& transforms,
                              const std::vector<Exact>& values, const AxisVector<int>& line = {});

/// Relative L2 error of the serial FFTW transform of the same array in the given precision: what a
/// distributed transform is held against. Forward takes `values` to `spectrum`, backward the other way; both
/// are exact, and unscaled forward relates them.
double serial_fftw_error(const Problem& problem, Direction direction, const std::vector<Exact>& values,
                         const std::vector<Exact>& spectrum);

/// The bound of the design: max(2 x serial FFTW's error, 2 eps sqrt(1 + log2 N)), N the transformed points.
double error_bound(const Problem& problem, double serial_error);

}  // namespace weft::test
