// The command line of weft-bench: its options in groups, its help, and its messages about unknown names.
#pragma once

#include <optional>

#include "case.hpp"

namespace weft::bench {

/// Reads the arguments into `c`. Returns an exit status if there is nothing to run, after help, the version
/// or an error, which are printed if `speaks`.
std::optional<int> read_arguments(Case& c, int argc, const char* const* argv, bool speaks);

/// "threads:4" -> 4; "mpi" -> 0. Throws `weft::Error` for anything else.
int threads_of(const std::string& comm);

}  // namespace weft::bench
