// What a rank can check of a problem by itself, and a problem as text: by lines, which ranks compare, and as
// the title of a plan.
#pragma once

#include <string>
#include <vector>

#include "weft/comm.hpp"
#include "weft/problem.hpp"

namespace weft {

/// Throws `weft::Error` for anything in the problem that is wrong whatever the other ranks say, and fills in
/// the default transforms and what the elements are.
void check_problem(Problem& problem, int ranks);

/// "NAME VALUE" for everything in a problem that has to be alike on all ranks.
std::vector<std::string> describe(const Problem& problem);

/// Throws `AgreedFailure` unless all ranks give the same lines. Collective.
void compare_lines(CommImpl& comm, const std::vector<std::string>& mine);

/// What is transformed, on how many ranks: the first line of a printed plan.
std::string title_of(const Problem& problem, const Comm& comm);
/// The same of ranks that are not here.
std::string title_of(const Problem& problem, int ranks, const std::string& medium);

}  // namespace weft
