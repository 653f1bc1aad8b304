// What a random problem transforms: the numbers, their exact transform, and how far a computed one may be
// off.
#pragma once

#include <random>

#include "support/random_problem.hpp"

namespace weft::test {

/// Draws `values`; sets `exact` and `bounds`.
void draw_values(RandomProblem& problem, std::mt19937_64& engine);

}  // namespace weft::test
