// Random problems on the ranks of MPI_COMM_WORLD, and on sub-communicators of it.
#include <gtest/gtest.h>

#include "base/test_hook.hpp"
#include "support/disturbance.hpp"
#include "support/has_exchange.hpp"
#include "support/random_problem.hpp"
#include "support/scoped_variable.hpp"
#include "transport/mpi/types.hpp"
#include "weft/mpi.hpp"

namespace weft::test {

TEST(RandomProblems, OnMpiRanks) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  // More ranks than cores take turns, which not every MPI library does quickly.
  const int count = problem_count(comm.size() <= 2 ? 60 : comm.size() <= 4 ? 40 : comm.size() <= 6 ? 20 : 10);
  for (int i = 0; i < count; ++i) {
    const RandomProblem p =
        make_random_problem(first_seed() + static_cast<std::uint64_t>(i), comm.size(), true);
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    // Half of them with parts in several messages.
    const ScopedSwitch limit(detail::mpi_bytes_at_once, i % 2 == 0 ? Index{192} : Index{60 * 1024});
    ASSERT_NO_THROW(run_random_problem(comm, p)) << p.describe();
  }
}

TEST(RandomProblems, OfOneArrayOnMpiRanks) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const int count = problem_count(comm.size() <= 4 ? 30 : 8);
  for (int i = 0; i < count; ++i) {
    const RandomProblem p =
        make_shared_problem(first_seed() + static_cast<std::uint64_t>(i), comm.size(), true);
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    ASSERT_NO_THROW(run_random_problem(comm, p)) << p.describe();
  }
}

TEST(RandomProblems, WithCodecsOnMpiRanks) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const int count = problem_count(comm.size() <= 4 ? 20 : 6);
  for (int i = 0; i < count; ++i) {
    const RandomProblem p =
        make_coded_problem(first_seed() + static_cast<std::uint64_t>(i), comm.size(), true);
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    const ScopedSwitch limit(detail::mpi_bytes_at_once, Index{192});
    ASSERT_NO_THROW(run_random_problem(comm, p)) << p.describe();
  }
}

TEST(RandomProblems, WithColumnsOnMpiRanks) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const int count = problem_count(comm.size() <= 4 ? 30 : 8);
  for (int i = 0; i < count; ++i) {
    const RandomProblem p =
        make_columns_problem(first_seed() + static_cast<std::uint64_t>(i), comm.size(), true);
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    const ScopedSwitch limit(detail::mpi_bytes_at_once, i % 2 == 0 ? Index{192} : Index{60 * 1024});
    ASSERT_NO_THROW(run_random_problem(comm, p)) << p.describe();
  }
}

TEST(RandomProblems, OnRails) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (!has_exchange(comm, "ucx")) GTEST_SKIP() << why_no_exchange(comm, "ucx");
  const int count = problem_count(comm.size() <= 4 ? 8 : 4);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed() + 300 + static_cast<std::uint64_t>(i);
    RandomProblem p = (i % 4 == 3 ? make_coded_problem : make_random_problem)(seed, comm.size(), true);
    draw_rails(p, comm.size() <= 4 ? "lo" : "");
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    ASSERT_NO_THROW(run_random_problem(comm, p)) << p.describe();
  }
}

TEST(RandomProblems, OnSubCommunicators) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);  // also reverses the order
  {
    const Comm comm = Comm::mpi(half);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const RandomProblem p = make_random_problem(7000 + seed, comm.size(), true);
      ASSERT_NO_THROW(run_random_problem(comm, p)) << p.describe();
    }
  }
  MPI_Comm_free(&half);
}

}  // namespace weft::test
