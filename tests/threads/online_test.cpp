// Plans that are tuned by their executions: results are right at each of them, and ranks decide alike.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "api/online.hpp"
#include "api/plan_impl.hpp"
#include "base/test_hook.hpp"
#include "support/disturbance.hpp"
#include "support/expect_error.hpp"
#include "support/one_rank_fails.hpp"
#include "support/says.hpp"
#include "support/tuned.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;

Problem cube(Index n) {
  Problem p;
  p.shape = {n, n, n};
  return p;
}

std::vector<Complex> ramp(std::size_t n) {
  std::vector<Complex> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = {static_cast<double>(i % 17), static_cast<double>(i % 5)};
  return v;
}

/// Executes forward; the result.
std::vector<Complex> forward(Plan& plan) {
  const std::vector<Complex> in = ramp(plan.input_count());
  std::vector<Complex> out(plan.output_count());
  plan.forward(in.data(), out.data());
  return out;
}

/// Every operation of a rank takes so many microseconds longer.
TestHook slow(int rank, int microseconds) {
  TestHook hook;
  hook.at_point = [=](const char* point, int at) {
    if (at == rank && std::strcmp(point, "op") == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  };
  return hook;
}

}  // namespace

TEST(Online, RandomProblemsAreRightAtEachExecution) {
  forget_wisdom();
  const ScopedSwitch reckless(detail::online_at_any_cost, true);
  const int count = problem_count(12);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed() + 40'000 + static_cast<std::uint64_t>(i);
    const int ranks = 1 + i % 4;
    const RandomProblem p = make_online_problem(seed, ranks, false);
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    ThreadTeam team(ranks);
    ASSERT_NO_THROW(team.run([&](const Comm& comm) { run_random_problem(comm, p); })) << p.describe();
    forget_wisdom();
  }
}

/// Windows do not change the arithmetic.
TEST(Online, WhatChangesNoArithmeticChangesNoBit) {
  const ScopedSwitch reckless(detail::online_at_any_cost, true);
  ThreadTeam(3).run([](const Comm& comm) {
    Options options;
    options.set("effort", "online").set("exchange", "copy").set("pipeline", "th");
    options.set("tile", 2).set("fy", 1).set("decomposition", "slab").set("layout", "contiguous");
    options.set("fft_stage", "early");
    Plan plan(comm, cube(12), options);
    const std::vector<Complex> first = forward(plan);
    // Until it has settled once: it looks again where another program slows this one down.
    for (int i = 0; i < 24 && plan.explain().online.trying; ++i) {
      const std::vector<Complex> again = forward(plan);
      ASSERT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(Complex)), 0) << i;
    }
    const OnlineTuning tuning = plan.explain().online;
    EXPECT_FALSE(tuning.trying);
    EXPECT_GT(tuning.tried, 1) << tuning.state;
    forget_wisdom();
  });
}

TEST(Online, PrintsHowFarItIsAndWhatItFound) {
  forget_wisdom();
  const ScopedSwitch reckless(detail::online_at_any_cost, true);
  ThreadTeam(2).run([](const Comm& comm) {
    Plan plan(comm, cube(8), Options().set("effort", "online").set("online", 10));
    EXPECT_TRUE(says(plan.to_string(), "online: trying, 0 of 10 executions")) << plan;
    for (int i = 0; i < 5; ++i) forward(plan);
    EXPECT_TRUE(plan.explain().online.trying);
    for (int i = 0; i < 7; ++i) forward(plan);
    EXPECT_TRUE(says(plan.to_string(), "online: settled after ")) << plan;
    const Explanation e = plan.explain();
    EXPECT_GT(e.online.tried, 0);
    EXPECT_GE(e.candidates.size(), 2u);
    EXPECT_TRUE(says(to_string(e), "try: ")) << e;
    EXPECT_GT(e.online.executions.front().seconds, 0);
  });
}

TEST(Online, WhatItFindsIsWisdom) {
  const ScopedSwitch reckless(detail::online_at_any_cost, true);
  const std::string file = new_wisdom_file();
  forget_wisdom();
  ThreadTeam(2).run([&](const Comm& comm) {
    const Options online = Options().set("effort", "online").set("online", 6).set("wisdom", file);
    {
      Plan plan(comm, cube(8), online);
      for (int i = 0; i < 8; ++i) forward(plan);
      EXPECT_FALSE(plan.explain().online.trying);
    }
    comm.barrier();
    if (comm.rank() == 0) forget_wisdom();
    comm.barrier();
    Plan again(comm, cube(8), online);
    EXPECT_EQ(again.explain().online.state, "settled: as wisdom has it");
    EXPECT_EQ(PlanImpl::of(again).learnt.origin, Origin::wisdom);
    const Plan estimated(comm, cube(8), Options().set("wisdom", file));
    EXPECT_EQ(PlanImpl::of(estimated).learnt.origin, Origin::wisdom);
    // More effort makes its own trials.
    const Plan measured(comm, cube(8), quick("measure", file, 2));
    EXPECT_EQ(PlanImpl::of(measured).learnt.origin, Origin::trial);
  });
  remove_wisdom(file);
  forget_wisdom();
}

TEST(Online, LooksAgainWhenTimesDrift) {
  forget_wisdom();
  ThreadTeam team(2);
  std::vector<std::unique_ptr<Plan>> plans(2);
  const auto each = [&](const std::function<void(Plan&)>& f) {
    team.run([&](const Comm& comm) { f(*plans[static_cast<std::size_t>(comm.rank())]); });
  };
  team.run([&](const Comm& comm) {
    plans[static_cast<std::size_t>(comm.rank())] =
        std::make_unique<Plan>(comm, cube(16), Options().set("effort", "online").set("online", 4));
  });
  each([](Plan& plan) {
    for (int i = 0; i < 6; ++i) forward(plan);
    EXPECT_FALSE(plan.explain().online.trying);
  });
  const ScopedTestHook hook(slow(1, 3000));
  each([](Plan& plan) {
    for (int i = 0; i < 12; ++i) forward(plan);
    EXPECT_TRUE(says(plan.to_string(), "online: looking again, ") ||
                says(plan.to_string(), "online: looked again, "))
        << plan;
    for (int i = 0; i < 6; ++i) forward(plan);
    EXPECT_FALSE(plan.explain().online.trying) << plan;
  });
  team.run([&](const Comm& comm) { plans[static_cast<std::size_t>(comm.rank())].reset(); });
  forget_wisdom();
}

/// The user's workspace is large enough for all that is tried, and the same from first to last.
TEST(Online, AWorkspaceOfTheUserServesAll) {
  const ScopedSwitch reckless(detail::online_at_any_cost, true);
  ThreadTeam(3).run([](const Comm& comm) {
    Plan plan(comm, cube(12), Options().set("effort", "online").set("workspace", "user"));
    const std::size_t bytes = plan.workspace_bytes();
    Buffer<std::byte> workspace(bytes);
    const std::vector<Complex> in = ramp(plan.input_count());
    std::vector<Complex> out(plan.output_count()), first;
    for (int i = 0; i < 24 && plan.explain().online.trying; ++i) {
      plan.forward(in.data(), out.data(), workspace.data(), workspace.size());
      if (i == 0) first = out;
      for (std::size_t k = 0; k < out.size(); ++k) ASSERT_NEAR(std::abs(out[k] - first[k]), 0, 1e-9) << i;
      EXPECT_EQ(plan.workspace_bytes(), bytes);
    }
    EXPECT_GT(plan.explain().online.tried, 0);
    forget_wisdom();
  });
}

/// A rank that fails leaves nobody waiting for what it would have said of its time.
TEST(Online, AFailureIsOneOnAllRanks) {
  ThreadTeam team(3);
  std::vector<std::string> said(3);
  TestHook hook;
  std::atomic<int> operations = 0;
  hook.at_point = [&](const char* point, int rank) {
    if (rank == 1 && std::strcmp(point, "op") == 0 && ++operations == 40)
      throw Error("test", "a failure", "none");
  };
  const ScopedTestHook installed(hook);
  EXPECT_THROW(team.run([&](const Comm& comm) {
    Plan plan(comm, cube(8), Options().set("effort", "online"));
    try {
      for (int i = 0; i < 40; ++i) forward(plan);
    } catch (const std::exception& e) {
      said[static_cast<std::size_t>(comm.rank())] = e.what();
      throw;
    }
  }),
               Error);
  for (const std::string& text : said) EXPECT_TRUE(says(text, "a failure")) << text;
}

TEST(Online, ARankThatFailsAloneIsWaitedForByNobody) {
  const ScopedSwitch reckless(detail::online_at_any_cost, true);
  ThreadTeam team(4);
  for (const LonelyFailure& failure : lonely_failures()) {
    SCOPED_TRACE(failure.name);
    forget_wisdom();
    std::atomic<bool> armed = false;
    const ScopedTestHook hook(failure.hook(&armed));
    std::vector<std::string> said(4);
    team.run(
        [&](const Comm& comm) { said[static_cast<std::size_t>(comm.rank())] = failure.run(comm, &armed); });
    for (int rank = 0; rank < 4; ++rank) expect_told(said[static_cast<std::size_t>(rank)], rank);
  }
  forget_wisdom();
}

TEST(Online, WhatKeepsItFromTryingIsSaid) {
  forget_wisdom();
  const Comm comm = Comm::self();
  const Plan none(comm, cube(4), Options().set("effort", "online").set("online", 0));
  EXPECT_EQ(none.explain().online.state, "nothing is tried: option online is 0");
  expect_error([] { Options().set("online", -1); }, "a number of executions from 0 to 1000000");
  expect_error([] { Options().set("effort", "onlin"); }, "online");
}

}  // namespace weft::test
