// The late maximum among MPI ranks, and plans that executions tune of which one rank fails alone: nobody
// waits for it, and MPI ends with nothing under way.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/online.hpp"
#include "base/test_hook.hpp"
#include "support/expect_error.hpp"
#include "support/leaving.hpp"
#include "support/one_rank_fails.hpp"
#include "tune/wisdom_store.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;

/// Of two pairs of ranks.
class OneRankFails : public testing::Test {
 protected:
  void SetUp() override {
    if (comm_.size() != 4) GTEST_SKIP() << "two pairs are four ranks";
    forget_wisdom();
  }
  void TearDown() override { forget_wisdom(); }

  Comm comm_ = Comm::mpi(MPI_COMM_WORLD);
  Options online_ = Options().set("effort", "online");
};

}  // namespace

TEST(LateMaximum, RanksLeaveWhenTheyLike) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  for (unsigned seed = 0; seed < 20; ++seed) {
    if (seed % 5 == 0) MPI_Barrier(MPI_COMM_WORLD);
    give_and_leave(seed < 10 ? comm : Comm::mpi(MPI_COMM_WORLD), seed);
  }
}

TEST_F(OneRankFails, AndIsWaitedForByNobody) {
  const ScopedSwitch reckless(detail::online_at_any_cost, true);
  for (const LonelyFailure& failure : lonely_failures()) {
    SCOPED_TRACE(failure.name);
    forget_wisdom();
    std::atomic<bool> armed = false;
    const ScopedTestHook hook(failure.hook(&armed));
    const Comm comm = Comm::mpi(MPI_COMM_WORLD);
    expect_told(failure.run(comm, &armed), comm.rank());
    comm_.barrier();
  }
}

/// One pair needs nothing of the other but to know when its executions began.
TEST_F(OneRankFails, APlanThatOnePairHasDestroyedIsAnErrorOfTheOther) {
  auto plan = std::make_unique<Plan>(comm_, two_pairs(), online_);
  const std::vector<Complex> in(plan->input_count(), {1, 2});
  std::vector<Complex> out(plan->output_count());
  const auto forward = [&] { plan->forward(in.data(), out.data()); };
  forward();
  if (comm_.rank() % 2 == 0) {
    plan.reset();
  } else {
    forward();  // for which the others have told what the last one took
    expect_error(forward, "a rank that has failed, or has destroyed the plan");
    expect_error(forward, "failed in the middle");
  }
  comm_.barrier();
}

/// A plan whose execution fails while another one is waited for says so itself; the other one goes on.
TEST_F(OneRankFails, WhatFailsBesideIsToldByItsOwnPlan) {
  using namespace std::chrono_literals;
  Plan a(comm_, two_pairs(), online_), b(comm_, two_pairs(), Options().set("exchange", "p2p"));
  const std::vector<Complex> in(a.input_count(), {1, 2});
  std::vector<Complex> x(a.output_count()), y(b.output_count());
  a.forward(in.data(), x.data());
  std::atomic<bool> armed = false;
  TestHook hook;
  hook.at_point = [&](const char* point, int) {
    if (std::strcmp(point, "op") == 0 && armed.exchange(false)) throw Error("test", "broken on purpose", "");
  };
  const ScopedTestHook scoped(hook);
  a.start_forward(in.data(), x.data());
  if (comm_.rank() == 3) std::this_thread::sleep_for(30ms);  // it is waited for in the next execution
  a.wait();
  if (comm_.rank() == 0) std::this_thread::sleep_for(60ms);  // the lonely rank has to wait for its parts
  b.start_forward(in.data(), y.data());
  armed = comm_.rank() == lonely;
  a.forward(in.data(), x.data());
  EXPECT_FALSE(armed);
  if (comm_.rank() == lonely) {
    expect_error([&] { b.wait(); }, "broken on purpose");
  } else if (comm_.rank() != 0) {  // which may have had its parts before
    b.wait();
  }
  a.forward(in.data(), x.data());
  comm_.barrier();
}

}  // namespace weft::test
