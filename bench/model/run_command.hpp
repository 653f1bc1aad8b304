// The command line of weft-model: its help, its messages about unknown names, and the command that is asked
// for.
#pragma once

namespace weft::bench {

/// Runs one command: its text goes to standard output, its JSON to the file of --json, errors to standard
/// error. Returns the exit status.
int run_command(int argc, const char* const* argv);

}  // namespace weft::bench
