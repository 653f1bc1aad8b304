// Random problems with arrays in memory of devices: those of random_problem.hpp as far as devices serve them.
#pragma once

#include "support/random_problem.hpp"

namespace weft::test {

/// The first from `seed` on that devices can do, with these exchanges; or one whose modes are given by
/// columns.
RandomProblem make_device_problem(std::uint64_t seed, int ranks, const std::vector<std::string>& exchanges,
                                  bool columns = false);

/// Perhaps not all of at least three ranks reach each other, or they are on several machines: the first two
/// always do and are not.
void draw_far_pairs(RandomProblem& problem);

/// A small one, for tests of anything else than its result.
Problem on_device();

}  // namespace weft::test
