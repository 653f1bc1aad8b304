// What plans take of MPI and give back: tags, communicators of groups; and what becomes of the others when
// one rank gives up.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/test_hook.hpp"
#include "comm/mpi_world.hpp"
#include "kernels/cpu/zfp.hpp"
#include "support/bad_input.hpp"
#include "support/expect_error.hpp"
#include "support/fails_at.hpp"
#include "support/has_exchange.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace weft::test {

using Complex = std::complex<double>;

namespace {

/// From slabs to slabs and back: two reshapes in each direction.
Problem natural(const Shape& shape) {
  Problem p;
  p.shape = shape;
  p.output = Distribution::slab(0);
  return p;
}

/// Arrays of a plan: an impulse, which becomes ones.
struct Arrays {
  Buffer<Complex> in, out;
  Arrays(const Comm& comm, const Plan& plan) : in(plan.input_count()), out(plan.output_count()) {
    if (comm.rank() == 0) in[0] = 1;
  }
  void expect_ones() const {
    for (const Complex& v : out) ASSERT_NEAR(std::abs(v - 1.0), 0, 1e-13);
  }
};

const Options p2p = Options().set("exchange", "p2p").set("pipeline", "sequential");

}  // namespace

TEST(Tags, NoTwoPlansHaveTheSameHoweverOftenOthersComeAndGo) {
  const ScopedSwitch few(detail::largest_allowed_tag, 40);
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const bool even = comm.rank() % 2 == 0;
  Plan stays(comm, natural({24, 24, 8}), p2p);
  Arrays a(comm, stays);
  std::unique_ptr<Plan> other;
  for (int i = 0; i < 12; ++i) {
    if (even) other.reset();  // the other ranks when they have the next one
    other = std::make_unique<Plan>(comm, natural({24, 24, 8}), p2p);
    Arrays b(comm, *other);
    b.in[0] *= 2;
    stays.start_forward(a.in.data(), a.out.data());
    other->start_forward(b.in.data(), b.out.data());
    // The second reshape of each begins in another order.
    (even ? stays : *other).wait();
    (even ? *other : stays).wait();
    a.expect_ones();
    for (const Complex& v : b.out) ASSERT_NEAR(std::abs(v - 2.0), 0, 1e-13);
  }
}

TEST(Tags, WithoutAnyLeftPlanningFailsOnAllRanks) {
  const ScopedSwitch few(detail::largest_allowed_tag, 40);
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  std::vector<std::unique_ptr<Plan>> plans;
  const auto make = [&] { plans.push_back(std::make_unique<Plan>(comm, natural({24, 24, 8}), p2p)); };
  if (comm.size() == 1) return;  // without exchanges
  expect_error(
      [&] {
        std::generate_n(std::back_inserter(plans), 8, [&] {
          return std::make_unique<Plan>(comm, natural({24, 24, 8}), p2p);
        });
      },
      "tags of messages beside those of other plans");
  plans.clear();
  make();
  Arrays a(comm, *plans.front());
  plans.front()->forward(a.in.data(), a.out.data());
  a.expect_ones();
}

TEST(Groups, AreFreedWhenNoPlanUsesThem) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const int n = comm.size();
  std::vector<Box> rows;
  for (int r = 0; r < n; ++r) rows.push_back({{r, 0}, {r + 1, 2}});
  for (int a = 0; a + 1 < n; ++a) {
    // Two neighbours exchange what they have: a group of these two, and one of each other rank alone.
    std::vector<Box> exchanged = rows;
    std::swap(exchanged[static_cast<std::size_t>(a)], exchanged[static_cast<std::size_t>(a) + 1]);
    Problem p;
    p.shape = {n, 2};
    p.transforms = {Transform::none, Transform::none};
    p.input = Distribution::boxes(rows);
    p.output = Distribution::boxes(exchanged);
    Plan plan(comm, p, Options().set("exchange", "alltoallv"));
    Buffer<Complex> in(plan.input_count()), out(plan.output_count());
    for (Complex& v : in) v = comm.rank();
    plan.forward(in.data(), out.data());
    const int owner = comm.rank() == a ? a + 1 : comm.rank() == a + 1 ? a : comm.rank();
    for (const Complex& v : out) EXPECT_EQ(v, Complex(owner));
    EXPECT_EQ(comm.impl().mpi()->groups(), 1);
  }
}

TEST(Connecting, AFailureOfOneRankReachesAll) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const int last = comm.size() - 1;
  for (const char* exchange :
       {"p2p", "p2pw", "alltoallv", "ring", "ucx", "ucx puts", "direct", "node", "node_ucx"})
    for (const int at : {0, 1, 3}) {
      if (comm.size() == 1 || !has_exchange(comm, exchange)) continue;
      int connected = 0;
      TestHook hook;
      hook.at_point = [&](const char* point, int rank) {
        if (std::string(point) == "connect" && connected++ == at && rank == last)
          throw std::runtime_error("out of luck");
      };
      const Options options = by_exchange(exchange);
      {
        const ScopedTestHook scoped(hook);
        expect_error(
            [&] {
              const Plan plan(comm, natural({12, 12, 6}), options);
            },
            "out of luck (rank " + std::to_string(last) + ")");
      }
      Plan after(comm, natural({12, 12, 6}), options);
      Arrays a(comm, after);
      after.forward(a.in.data(), a.out.data());
      a.expect_ones();
    }
}

TEST(GivingUp, APlanDestroyedUnderWayFailsThoseWhoWaitForIt) {
  for (const char* exchange : {"p2p", "p2pw", "ialltoallv", "ring", "ucx", "ucx puts", "direct"}) {
    const Comm comm = Comm::mpi(MPI_COMM_WORLD);
    if (comm.size() == 1) return;
    if (!has_exchange(comm, exchange)) continue;
    auto plan = std::make_unique<Plan>(comm, natural({24, 24, 8}), by_exchange(exchange));
    Arrays a(comm, *plan);
    if (comm.rank() == 0) {
      plan->start_forward(a.in.data(), a.out.data());
      MPI_Barrier(MPI_COMM_WORLD);  // that of `comm` would complete collective exchanges first
      testing::internal::CaptureStderr();
      plan.reset();
      const std::string text = testing::internal::GetCapturedStderr();
      EXPECT_TRUE(says(text, "forward: a plan destroyed while it was under way: 24x24x8 c2c"));
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
      expect_error([&] { plan->forward(a.in.data(), a.out.data()); }, "has failed in the middle");
    }
    comm.barrier();
  }
}

TEST(GivingUp, AFailureInTheMiddleIsToldWithMessagesToo) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  for (const char* exchange : {"p2p", "p2pw", "ring", "ucx", "ucx puts"})
    for (const int when : {0, 2, 4}) {
      if (!has_exchange(comm, exchange)) continue;
      Plan plan(comm, natural({24, 24, 8}), by_exchange(exchange));
      Arrays a(comm, plan);
      const ScopedTestHook scoped(rank_1_fails_at(when));
      const auto often = [&] {
        for (int i = 0; i < 3; ++i) {
          plan.forward(a.in.data(), a.out.data());
          plan.backward(a.out.data(), a.in.data());
        }
      };
      expect_error(often, comm.rank() == 1 ? "broken on purpose" : "failed in the middle");
      comm.barrier();
    }
}

TEST(GivingUp, AnOperatorThatThrowsIsToldOnceBlockingExchangesAreDone) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  for (const char* exchange :
       {"alltoallv", "alltoallw", "pairwise", "alltoallv,pairwise", "alltoallv,p2p", "p2p,alltoallv",
        "direct,alltoallv", "pairwise,direct", "ialltoallv,alltoallv", "alltoallv,ring", "ucx,alltoallv"}) {
    SCOPED_TRACE(exchange);
    if (says(exchange, "ucx") && !has_exchange(comm, "ucx")) continue;
    const Options options = Options().set("exchange", exchange);
    Plan plan(comm, {.shape = {12, 16, 8}, .between = Between::modes}, options);
    Buffer<Complex> in(plan.input_count()), out(plan.output_count());
    for (int i = 0; i < 3; ++i) {
      const auto op = [&](const Block&) {
        if (i == 2 && comm.rank() == 1) throw std::runtime_error("an operator's failure");
      };
      try {
        plan.apply(in.data(), out.data(), op);
        EXPECT_LT(i, 2) << "no error";
      } catch (const std::exception& e) {
        EXPECT_EQ(i, 2) << e.what();
        EXPECT_TRUE(
            says(e.what(), comm.rank() == 1 ? "an operator's failure" : "rank 1 has failed in the middle"));
      }
    }
    expect_error([&] { plan.forward(in.data(), out.data()); }, "failed in the middle");
    // The ranks are in step.
    Plan after(comm, natural({12, 12, 6}), options);
    Arrays a(comm, after);
    after.forward(a.in.data(), a.out.data());
    a.expect_ones();
  }
}

/// A call that some ranks have made and others have not would be taken for one of a later plan's.
TEST(GivingUp, LaterPlansDoNotMeetCollectivesThatAFailureHasLeftBehind) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  for (const int when : {0, 1, 3}) {
    const auto plan = [&] {
      return Plan(comm, natural({24, 24, 8}), Options().set("exchange", "ialltoallv"));
    };
    Plan older = plan(), failing = plan();
    Arrays a(comm, failing);
    older.forward(a.in.data(), a.out.data());
    a.expect_ones();
    const TestHook hook = rank_1_fails_at(when);
    {
      const ScopedTestHook scoped(hook);
      const auto often = [&] {
        for (int i = 0; i < 3; ++i) failing.forward(a.in.data(), a.out.data());
      };
      expect_error(often, comm.rank() == 1 ? "broken on purpose" : "failed in the middle");
    }
    comm.barrier();
    Plan later = plan();
    for (int i = 0; i < 3; ++i) {
      std::fill(a.out.begin(), a.out.end(), 0);
      later.forward(a.in.data(), a.out.data());
      a.expect_ones();
    }
    expect_error([&] { older.forward(a.in.data(), a.out.data()); }, "have not made the same calls");
    comm.barrier();
  }
}

/// Later ones may come of what it has sent.
TEST(GivingUp, TheRankIsNamedThatHasFailedFirst) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() < 3) return;
  Plan plan(comm, natural({24, 24, 8}), Options().set("exchange", "alltoallv").set("codec", "fp16"));
  Arrays a(comm, plan);
  int operations = 0, fails_at = -1;
  TestHook hook;
  hook.at_point = [&](const char* point, int rank) {
    if (std::string(point) == "op" && rank == comm.rank() && operations++ == fails_at)
      throw Error("test", "broken on purpose", "");
  };
  const ScopedTestHook scoped(hook);
  plan.forward(a.in.data(), a.out.data());
  if (comm.rank() == 2) fails_at = 0;
  if (comm.rank() == 1) fails_at = operations - 1;
  operations = 0;
  expect_error([&] { plan.forward(a.in.data(), a.out.data()); },
               comm.rank() == 2 ? "broken on purpose" : "rank 2 has failed in the middle");
}

TEST(GivingUp, WhatACodecRefusesIsToldOnceBlockingExchangesAreDone) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  // What is not coded is no sound part, but that is not why the receivers fail.
  const bool zfp = zfp::missing().empty();
  for (const char* codec : {"fp16", zfp ? "zfp:16" : "fp32"})
    for (const char* exchange : {"alltoallv", "pairwise", "alltoall"}) {
      SCOPED_TRACE(std::string(codec) + " " + exchange);
      Problem p = natural({12, 16, 8});
      p.transforms = {Transform::none, Transform::none, Transform::none};
      p.input = Distribution::slab(0);
      p.output = Distribution::slab(1);
      Plan plan(comm, p, Options().set("exchange", exchange).set("codec", codec));
      Buffer<Complex> in(plan.input_count()), out(plan.output_count());
      if (comm.rank() == 1)
        in[0] = zfp && codec[0] == 'z' ? std::numeric_limits<double>::infinity()
                                       : std::numeric_limits<double>::max();
      expect_error([&] { plan.forward(in.data(), out.data()); },
                   comm.rank() == 1 ? "execution: codec " : "rank 1 has failed in the middle");
      comm.barrier();
    }
}

}  // namespace weft::test
