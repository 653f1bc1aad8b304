// Random problems with arrays in memory of devices: those of random_problem.hpp as far as devices serve them.
#pragma once

#include "support/random_problem.hpp"

namespace weft::test {

/// The first from `seed` on that devices can do, with these exchanges.
RandomProblem make_device_problem(std::uint64_t seed, int ranks, const std::vector<std::string>& exchanges);

/// A small one, for tests of anything else than its result.
Problem on_device();

}  // namespace weft::test
