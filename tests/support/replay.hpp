// Replays the programs of all ranks without executing them, and finds what would go wrong: messages without a
// partner, waits that never end, memory that is touched while an exchange owns it, operations that may run at
// the same time on the same memory, tiles put before they are free or read before they are full.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "program/program.hpp"

namespace weft::test {

/// What has been replayed. `replay` and `check_program` throw `weft::Error` at the first violation.
struct ReplayReport {
  Index bytes_sent = 0;  ///< to other ranks
  Index bytes_received = 0;
  Index messages = 0;
};

/// Checks one rank's program by itself: every pair of operations that touch the same memory, at least one of
/// them writing, is ordered by dependencies; buffers that belong to an exchange between `post` (or
/// `signal_free`) and its completion are left alone meanwhile; every put follows its `await_free`, every tile
/// is complete when it is read. Returns the number of pairs compared.
Index check_program(const Program& program);

/// Runs all programs against each other, `executions` times in a row without any barrier between, one
/// operation at a time of a rank chosen by `seed`, with blocking operations as on the host (`blocking_post`:
/// posts wait for their peers, as a blocking collective does). Programs are asked for one after the other,
/// and kept in a compact form.
struct ReplaySettings {
  std::uint64_t seed = 1;
  bool blocking_post = false;
  int executions = 2;
};
ReplayReport replay(int ranks, const std::function<Program(int rank)>& program_of,
                    const ReplaySettings& settings);
/// The same, once with each of the settings: making programs takes longer than replaying them.
std::vector<ReplayReport> replay(int ranks, const std::function<Program(int rank)>& program_of,
                                 const std::vector<ReplaySettings>& settings);

}  // namespace weft::test
