// Random problems on the ranks of MPI_COMM_WORLD, and on sub-communicators of it.
#include <gtest/gtest.h>

#include "base/test_hook.hpp"
#include "support/disturbance.hpp"
#include "support/has_exchange.hpp"
#include "support/random_problem.hpp"
#include "support/scoped_variable.hpp"
#include "support/ucx_ranks.hpp"
#include "transport/mpi/types.hpp"
#include "weft/mpi.hpp"

namespace weft::test {

using Make = RandomProblem (*)(std::uint64_t seed, int ranks, bool mpi);

constexpr Index short_messages = 192, long_messages = Index{60} * 1024;

/// In turn with parts in several messages and without.
void run_on(const Comm& comm, int count, Make make, Index other_messages = long_messages) {
  for (int i = 0; i < count; ++i) {
    const RandomProblem p = make(first_seed() + static_cast<std::uint64_t>(i), comm.size(), true);
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    const ScopedSwitch limit(detail::mpi_bytes_at_once, i % 2 == 0 ? short_messages : other_messages);
    ASSERT_NO_THROW(run_random_problem(comm, p)) << p.describe();
  }
}

// More ranks than cores take turns, which not every MPI library does quickly.

TEST(RandomProblems, OnMpiRanks) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  run_on(comm, problem_count(comm.size() <= 2 ? 40 : comm.size() <= 4 ? 24 : 10), make_random_problem);
}

TEST(RandomProblems, OfOneArrayOnMpiRanks) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  run_on(comm, problem_count(comm.size() <= 4 ? 16 : 8), make_shared_problem);
}

TEST(RandomProblems, WithCodecsOnMpiRanks) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  run_on(comm, problem_count(comm.size() <= 4 ? 12 : 6), make_coded_problem, short_messages);
}

TEST(RandomProblems, WithColumnsOnMpiRanks) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  run_on(comm, problem_count(comm.size() <= 4 ? 16 : 8), make_columns_problem);
}

TEST(RandomProblems, OnRails) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (!has_exchange(comm, "ucx")) GTEST_SKIP() << why_no_exchange(comm, "ucx");
  const std::string devices = two_rails();
  const int count = problem_count(comm.size() <= 4 ? 8 : 4);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed() + 300 + static_cast<std::uint64_t>(i);
    RandomProblem p = (i % 4 == 3 ? make_coded_problem : make_random_problem)(seed, comm.size(), true);
    draw_rails(p, comm.size() <= 4 ? devices : "");
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
