// The command line of weft-bench: its options in groups, and what is said about names that do not exist.
#pragma once

#include <optional>

#include "case.hpp"

namespace weft::bench {

/// Reads the arguments into `c`. If there is nothing to run, the exit status: after help, the version or an
/// error, which are printed if `speaks`.
std::optional<int> read_arguments(Case& c, int argc, const char* const* argv, bool speaks);

/// "threads:4" -> 4; "mpi" -> 0. Throws `weft::Error` for anything else.
int threads_of(const std::string& comm);

}  // namespace weft::bench
