// A rank that fails by itself between two collective calls of planning, as small allocations may: the others,
// which would wait for it there for ever, hear of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/has_exchange.hpp"
#include "support/new_counter.hpp"
#include "support/random_problem.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"
#include "weft/wisdom.hpp"

namespace weft::test {

namespace {

/// Of all ranks.
bool any(bool mine) {
  int most = mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return most != 0;
}

/// Why a plan could not be made; or nothing.
std::string why_no_plan(const Comm& comm, const Problem& problem, const Options& options) {
  try {
    const Plan plan(comm, problem, options);
    return "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

long allocations_of_planning(const Problem& problem, const Options& options) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  begin_counting_news();
  EXPECT_EQ(why_no_plan(comm, problem, options), "");
  return end_counting_news();
}

}  // namespace

TEST(Leaving, WithoutMemoryAtAnyMomentOfPlanningFailsOnAllRanks) {
  constexpr int moments = 40;
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (size == 1) return;
#ifdef MPICH_VERSION
  GTEST_SKIP() << "MPICH on UCX ends the process in MPI_Finalize where a collective call is unfinished";
#endif
  // The library that reads it ends the process where its destructors find no memory.
  forget_wisdom();
  Problem problem;
  problem.shape = {12, 10, 9};
  int told = 0;
  for (const char* exchange :
       {"auto", "p2p", "alltoallv", "pairwise", "ring", "ucx", "ucx puts", "node", "direct,alltoallv"}) {
    if (std::string(exchange).starts_with("ucx") && !has_exchange(Comm::mpi(MPI_COMM_WORLD), "ucx")) continue;
    const Options options = by_exchange(exchange);
    static_cast<void>(allocations_of_planning(problem, options));  // what is kept for later plans
    long most = allocations_of_planning(problem, options);
    MPI_Bcast(&most, 1, MPI_LONG, size - 1, MPI_COMM_WORLD);
    for (int i = 0; i < moments; ++i) {
      const long moment = most * i / moments + i % 7;
      SCOPED_TRACE(std::string(exchange) + ", after " + std::to_string(moment) + " allocations of " +
                   std::to_string(most));
      const Comm comm = Comm::mpi(MPI_COMM_WORLD);
      if (rank == size - 1) begin_refusing_news(moment, i % 2 == 0);
      const std::string error = why_no_plan(comm, problem, options);
      const bool refused = any(rank == size - 1 && end_refusing_news() > 0);
      EXPECT_EQ(error.empty(), !any(!error.empty())) << error;
      EXPECT_TRUE(refused || error.empty()) << error;
      // The ranks have failed together, and go on; or one has left, which all hear from now on.
      const bool left = any(error.find("has failed between two collective calls") != std::string::npos);
      told += left ? 1 : 0;
      const std::string later = why_no_plan(comm, problem, options);
      EXPECT_EQ(later.empty(), !left) << later;
      if (left) {
        EXPECT_NE(later.find("a new Comm"), std::string::npos) << later;
      }
      ASSERT_FALSE(any(testing::Test::HasFailure()));
    }
  }
  EXPECT_GT(told, 0);
}

}  // namespace weft::test
