// Hundreds of random problems on 1 to 16 thread ranks; WEFT_TEST_PROBLEMS=5000 for more.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <thread>

#include "base/test_hook.hpp"
#include "support/random_problem.hpp"
#include "weft/thread_team.hpp"

namespace weft::test {

namespace {

/// Spoils the workspace before every execution, and, if asked to, delays ranks at random.
TestHook disturbance(bool delays) {
  TestHook hook;
  hook.on_workspace = [](std::byte* memory, std::size_t bytes) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i + sizeof nan <= bytes; i += sizeof nan) std::memcpy(memory + i, &nan, sizeof nan);
  };
  if (delays)
    hook.at_point = [](const char*, int rank) {
      thread_local std::minstd_rand random(static_cast<unsigned>(rank) + 1);
      if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    };
  return hook;
}

}  // namespace

TEST(RandomProblems, OnThreadRanks) {
  std::vector<std::unique_ptr<ThreadTeam>> teams;
  for (int n = 1; n <= 16; ++n) teams.push_back(std::make_unique<ThreadTeam>(n));
  const int count = problem_count(480);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const int ranks = 1 + static_cast<int>(seed % 16);
    const RandomProblem p = make_random_problem(seed, ranks, false);
    const ScopedTestHook hook(disturbance(p.delays));
    ASSERT_NO_THROW(
        teams[static_cast<std::size_t>(ranks - 1)]->run([&](const Comm& comm) { run_random_problem(comm, p); }))
        << p.describe();
  }
}

}  // namespace weft::test
