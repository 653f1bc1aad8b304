// A rank that fails alone, in plans that executions tune: the others get an error or go on, and nobody waits
// for what it would have said. In problems of which two pairs of ranks know nothing of each other, that is
// all that they wait for.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/test_hook.hpp"
#include "weft/comm.hpp"
#include "weft/plan.hpp"

namespace weft::test {

/// Ranks 0 and 2 exchange parts, and ranks 1 and 3.
Problem two_pairs();
/// The rank that fails.
constexpr int lonely = 2;

struct LonelyFailure {
  std::string name;
  /// Throws on the lonely rank while `*armed`.
  std::function<TestHook(std::atomic<bool>* armed)> hook;
  /// Collective. The error of this rank, or "".
  std::function<std::string(const Comm& comm, std::atomic<bool>* armed)> run;
};
std::vector<LonelyFailure> lonely_failures();

/// Whether it is that of the lonely rank, or says that some rank has failed.
void expect_told(const std::string& error, int rank);

}  // namespace weft::test
