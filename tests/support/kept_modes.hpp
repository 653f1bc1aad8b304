// The answers for problems with transforms longer than their arrays (Problem::points, Problem::modes), from
// whole transforms: those of an r2c axis as the c2c transform of real data has them.
#pragma once

#include <vector>

#include "support/reference.hpp"

namespace weft::test {

/// The unscaled forward transform of a problem, of a whole array in C order.
std::vector<Exact> exact_modes(const Problem& problem, const std::vector<Exact>& points);

/// The unscaled backward transform, of modes that belong to real data where the points are real.
std::vector<Exact> exact_points(const Problem& problem, const std::vector<Exact>& modes);

}  // namespace weft::test
