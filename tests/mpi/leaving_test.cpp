// A rank that fails by itself between two collective calls of planning, or of executions that try other
// plans, as small allocations may: the others, which would wait for it there for ever, hear of it.
#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <string>
#include <vector>

#include "api/online.hpp"
#include "base/test_hook.hpp"
#include "support/has_exchange.hpp"
#include "support/new_counter.hpp"
#include "support/says.hpp"
#include "support/tuned.hpp"
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

/// What a rank does. From where it calls `from_here` on it may find no memory.
using Attempt = std::function<void(const Comm& comm, const std::function<void()>& from_here)>;

/// The last rank finds no memory at so many moments of an attempt. Either all ranks fail or none does, and
/// each time the ranks go on, or know that one has left. Returns how often that was so.
int refuse_memory(const std::string& what, int moments, const Attempt& attempt) {
  int size = 0, rank = 0, told = 0, failed = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string error;
  error.reserve(4096);  // a message is told where there is no memory for it
  const auto why_not = [&](const Comm& comm, const std::function<void()>& from_here) -> const std::string& {
    error.clear();
    try {
      attempt(comm, from_here);
    } catch (const std::exception& e) {
      error = e.what();
    }
    return error;
  };
  const auto allocations = [&] {
    forget_wisdom();
    EXPECT_EQ(why_not(Comm::mpi(MPI_COMM_WORLD), begin_counting_news), "");
    return end_counting_news();
  };
  static_cast<void>(allocations());  // what is kept for later plans
  long most = allocations();
  MPI_Bcast(&most, 1, MPI_LONG, size - 1, MPI_COMM_WORLD);
  for (int i = 0; i < moments; ++i) {
    const long moment = most * i / moments + i % 7;
    SCOPED_TRACE(what + ", after " + std::to_string(moment) + " allocations of " + std::to_string(most));
    // The library that reads it ends the process where its destructors find no memory.
    forget_wisdom();
    const Comm comm = Comm::mpi(MPI_COMM_WORLD);
    static_cast<void>(why_not(comm, [&] {
      if (rank == size - 1) begin_refusing_news(moment, i % 2 == 0);
    }));
    const bool refused = any(rank == size - 1 && end_refusing_news() > 0);
    EXPECT_EQ(error.empty(), !any(!error.empty())) << error;
    EXPECT_TRUE(refused || error.empty()) << error;
    // The ranks have failed together, and go on; or one has left, which all hear from now on.
    const bool left = any(error.find("has failed between two collective calls") != std::string::npos);
    told += left ? 1 : 0;
    failed += error.empty() ? 0 : 1;
    forget_wisdom();
    const std::string later = why_not(comm, [] {});
    EXPECT_EQ(later.empty(), !left) << later;
    if (left) {
      EXPECT_NE(later.find("a new Comm"), std::string::npos) << later;
    }
    if (any(testing::Test::HasFailure())) break;
  }
  EXPECT_GT(failed, 0) << what;
  return told;
}

Problem small_box() {
  Problem problem;
  problem.shape = {12, 10, 9};
  return problem;
}

}  // namespace

class Leaving : public testing::Test {
 protected:
  void SetUp() override {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == 1) GTEST_SKIP() << "one rank";
#ifdef MPICH_VERSION
    GTEST_SKIP() << "MPICH on UCX ends the process in MPI_Finalize where a collective call is unfinished";
#endif
  }
};

TEST_F(Leaving, WithoutMemoryAtAnyMomentOfPlanningFailsOnAllRanks) {
  const Problem problem = small_box();
  int told = 0;
  for (const std::string exchange : {"auto", "p2p", "alltoallv", "pairwise", "ring", "ucx", "ucx puts",
                                     "node", "node_ucx", "direct,alltoallv"}) {
    if (says(exchange, "ucx") && !has_exchange(Comm::mpi(MPI_COMM_WORLD), exchange)) continue;
    const Options options = by_exchange(exchange);
    told += refuse_memory(exchange, 40, [&](const Comm& comm, const auto& from_here) {
      from_here();
      const Plan plan(comm, problem, options);
    });
    ASSERT_FALSE(any(HasFailure()));
  }
  EXPECT_GT(told, 0);
}

/// Executions that try something plan between two of them.
TEST_F(Leaving, WithoutMemoryAtAnyMomentOfExecutionsThatTryFailsOnAllRanks) {
  const ScopedSwitch reckless(detail::online_at_any_cost, true);
  const Problem problem = small_box();
  const Options options = Options().set("effort", "online").set("online", 6);
  std::vector<std::complex<double>> in(12 * 10 * 9), out(in.size());
  refuse_memory("executions", 60, [&](const Comm& comm, const auto& from_here) {
    Plan plan(comm, problem, options);
    from_here();
    for (int i = 0; i < 8; ++i) plan.forward(in.data(), out.data());
  });
}

}  // namespace weft::test
