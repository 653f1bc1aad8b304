// What a rank can check of a problem by itself, and the text by which ranks compare what they were given.
#pragma once

#include <string>
#include <vector>

#include "weft/problem.hpp"

namespace weft {

/// Throws `weft::Error` for anything in the problem that is wrong whatever the other ranks say, and fills in
/// the default transforms and what the elements are.
void check_problem(Problem& problem, int ranks);

/// "NAME VALUE" for everything in a problem that has to be alike on all ranks.
std::vector<std::string> describe(const Problem& problem);

}  // namespace weft
