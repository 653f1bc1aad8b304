// Random problems on 1 to 16 thread ranks; WEFT_TEST_PROBLEMS=5000 for more.
#include <gtest/gtest.h>

#include "base/test_hook.hpp"
#include "comm/comm_impl.hpp"
#include "support/design_of.hpp"
#include "support/disturbance.hpp"
#include "support/random_problem.hpp"
#include "weft/plan.hpp"
#include "weft/thread_team.hpp"

namespace weft::test {

TEST(RandomProblems, OnThreadRanks) {
  std::vector<std::unique_ptr<ThreadTeam>> teams;
  for (int n = 1; n <= 16; ++n) teams.push_back(std::make_unique<ThreadTeam>(n));
  const int count = problem_count(240);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const int ranks = 1 + static_cast<int>(seed % 16);
    const RandomProblem p = make_random_problem(seed, ranks, false);
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    ASSERT_NO_THROW(teams[static_cast<std::size_t>(ranks - 1)]->run([&](const Comm& comm) {
      run_random_problem(comm, p);
    })) << p.describe();
  }
}

using Make = RandomProblem (*)(std::uint64_t seed, int ranks, bool mpi);

/// On `fewest` to `most` ranks, in a team that no other problem has used.
void run_each_on_its_team(int count, int fewest, int most, Make make) {
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const int ranks = fewest + static_cast<int>(seed % static_cast<std::uint64_t>(most - fewest + 1));
    const RandomProblem p = make(seed, ranks, false);
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    ASSERT_NO_THROW(ThreadTeam(ranks).run([&](const Comm& comm) { run_random_problem(comm, p); }))
        << p.describe();
  }
}

TEST(RandomProblems, OfOneArrayOnThreadRanks) {
  run_each_on_its_team(problem_count(120), 2, 13, make_shared_problem);
}

TEST(RandomProblems, WithCodecsOnThreadRanks) {
  run_each_on_its_team(problem_count(160), 1, 16, make_coded_problem);
}

TEST(RandomProblems, WithColumnsOnThreadRanks) {
  const int count = problem_count(64);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const int ranks = 1 + static_cast<int>(seed % 9);
    RandomProblem p = make_columns_problem(seed, ranks, false);
    if (i % 4 == 3) {
      draw_codecs(p, true);
      p.exchanges = {"copy"};
      p.node_ranks = 0;
      p.far_pairs = false;
    }
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    ASSERT_NO_THROW(ThreadTeam(ranks).run([&](const Comm& comm) { run_random_problem(comm, p); }))
        << p.describe();
  }
}

TEST(Machines, ThreadsCanBeTakenToBeOnSeveral) {
  const ScopedSwitch machines(detail::pretended_ranks_per_node, 2);
  ThreadTeam(4).run([&](const Comm& comm) {
    Problem p;
    p.shape = {16, 16, 16};
    const Plan plan(comm, p);
    EXPECT_EQ(first_leg(plan).exchange, "direct");
    EXPECT_EQ(design_of(plan).memory.far, "copy");
    EXPECT_EQ(design_of(plan).program.nodes, (std::vector<int>{0, 0, 1, 1}));
  });
}

}  // namespace weft::test
