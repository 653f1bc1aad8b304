// What a rank can check of a problem by itself, and the text by which ranks compare what they were given.
#pragma once

#include <string>
#include <vector>

#include "weft/options.hpp"
#include "weft/problem.hpp"

namespace weft {

/// Throws `weft::Error` for anything in the problem that is wrong whatever the other ranks say, and fills in
/// the default transforms and what the elements are.
void check_problem(Problem& problem, int ranks);

/// One "name value" per line: everything that has to be alike on all ranks.
std::vector<std::string> describe(const Problem& problem, const Options& options);

}  // namespace weft
