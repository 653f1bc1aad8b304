// Errors among thread ranks: all ranks get them, nobody hangs, the team goes on.
#include <gtest/gtest.h>

#include <atomic>

#include "base/test_hook.hpp"
#include "support/bad_input.hpp"
#include "support/expect_error.hpp"
#include "support/random_problem.hpp"
#include "support/scoped_variable.hpp"
#include "support/tuned.hpp"
#include "weft/weft.hpp"

namespace weft::test {

using Complex = std::complex<double>;

TEST(BadInput, IsTheSameErrorOnEveryThreadRank) {
  for (int ranks : {1, 2, 3, 5}) {
    ThreadTeam team(ranks);
    for (const BadInput& bad : bad_inputs()) {
      if (ranks < bad.least_ranks) continue;
      SCOPED_TRACE(bad.name + " on " + std::to_string(ranks) + " ranks");
      team.run([&](const Comm& comm) {
        expect_error([&] { bad.run(comm); }, bad.message);
        comm.barrier();  // everybody came back
      });
    }
  }
}

TEST(Errors, PlanningThatFailsOnOneRankFailsOnAll) {
  ThreadTeam team(4);
  TestHook hook;
  hook.at_point = [](const char* point, int rank) {
    if (std::string(point) == "plan" && rank >= 2)
      throw std::runtime_error("out of luck on " + std::to_string(rank));
  };
  const ScopedTestHook scoped(hook);
  team.run([&](const Comm& comm) {
    expect_error([&] { Plan plan(comm, small_cube()); }, "out of luck on 2");
    expect_error([&] { Plan plan(comm, small_cube()); }, "(rank 2)");
  });
}

TEST(Errors, ARankThatRefusesToPlanSaysWhy) {
  ThreadTeam team(3);
  team.run([](const Comm& comm) {
    const auto make = [&] {
      if (comm.rank() == 1) Plan::refuse(comm, Error("plan: name", "no name", "a name"));
      const Plan plan(comm, small_cube());
    };
    expect_error(make, "plan: name: no name; expected a name (rank 1)");
    const Plan plan(comm, small_cube());  // ranks are in step
  });
}

TEST(Errors, ARankThatThrowsInTheMiddleStopsAllAndThePlanKnows) {
  for (const char* exchange : {"direct", "copy"})
    for (int when : {0, 3, 9, 20, 40}) {
      ThreadTeam team(4);
      std::atomic<int> armed{-1};  // operations of rank 2 until it fails; negative: never
      TestHook hook;
      hook.at_point = [&](const char* point, int rank) {
        if (std::string(point) == "op" && rank == 2 && armed >= 0 && armed-- == 0)
          throw Error("test", "broken on purpose", "");
      };
      const ScopedTestHook scoped(hook);
      std::atomic<int> failures{0};
      const auto body = [&](const Comm& comm) {
        Plan plan(comm, small_cube(),
                  Options().set("pipeline", "windowed").set("exchange", exchange).set("tile", 2));
        Buffer<Complex> in(plan.input_count()), out(plan.output_count());
        const auto forward = [&] { plan.forward(static_cast<const Complex*>(in.data()), out.data()); };
        forward();
        comm.barrier();
        if (comm.rank() == 2) armed = when;
        comm.barrier();
        try {
          for (int i = 0; i < 1000; ++i) forward();
        } catch (const Error& e) {
          ++failures;
          EXPECT_TRUE(says(e.what(), "broken on purpose"));
          expect_error(forward, "broken on purpose");  // the team stays stopped until the body returns
          throw;
        }
      };
      expect_error([&] { team.run(body); }, "broken on purpose");
      EXPECT_EQ(failures, 4) << exchange << " " << when;
      // The team is as good as new.
      team.run([&](const Comm& comm) {
        Plan plan(comm, small_cube());
        Buffer<Complex> in(plan.input_count()), out(plan.output_count());
        plan.forward(static_cast<const Complex*>(in.data()), out.data());
      });
    }
}

TEST(Errors, APlanThatFailedInTheMiddleSaysSo) {
  ThreadTeam team(2);
  std::vector<std::unique_ptr<Plan>> plans(2);
  std::atomic<bool> armed{false};
  TestHook hook;
  hook.at_point = [&](const char* point, int rank) {
    if (armed && rank == 1 && std::string(point) == "op") throw Error("test", "broken on purpose", "");
  };
  const ScopedTestHook scoped(hook);
  Buffer<Complex> in(12 * 12 * 12), out(2 * 12 * 12 * 12);
  const auto forward = [&](const Comm& comm) {
    const auto r = static_cast<std::size_t>(comm.rank());
    if (!plans[r]) plans[r] = std::make_unique<Plan>(comm, small_cube());
    plans[r]->forward(static_cast<const Complex*>(in.data()), out.data() + r * 12 * 12 * 12);
  };
  team.run(forward);
  armed = true;
  expect_error([&] { team.run(forward); }, "broken on purpose");
  armed = false;
  expect_error([&] { team.run(forward); }, "a new plan");
}

TEST(Errors, AnExceptionOutsideWeftReleasesTheOthers) {
  ThreadTeam team(3);
  try {
    team.run([](const Comm& comm) {
      if (comm.rank() == 1) throw std::logic_error("the user's own");
      comm.barrier();
    });
    FAIL();
  } catch (const std::logic_error& e) {
    EXPECT_STREQ(e.what(), "the user's own");
  }
  team.run([](const Comm& comm) { comm.barrier(); });
  ThreadTeam alone(1);
  EXPECT_THROW(alone.run([](const Comm&) { throw std::logic_error("the user's own"); }), std::logic_error);
  alone.run([](const Comm& comm) { comm.barrier(); });
  expect_error([] { ThreadTeam none(0); }, "at least 1");
  expect_error([&] { team.run(nullptr); }, "an empty function");
  expect_error(
      [&] {
        team.run([&](const Comm& comm) {
          if (comm.rank() == 0) team.run([](const Comm&) {});
          comm.barrier();
        });
      },
      "not from inside a body");
}

TEST(Errors, TheUsersExceptionIsReportedAndNotThePlanThatItDestroys) {
  ThreadTeam team(3);
  for (const bool split : {false, true})
    for (int repeat = 0; repeat < 20; ++repeat) {
      const auto body = [&](const Comm& all) {
        const Comm comm = split ? all.split(0) : all;
        Plan plan(comm, small_cube());
        Buffer<Complex> in(plan.input_count()), out(plan.output_count());
        plan.start_forward(in.data(), out.data());
        if (comm.rank() == 1) throw std::logic_error("the user's own");
        plan.wait();
        comm.barrier();
      };
      try {
        team.run(body);
        FAIL();
      } catch (const std::exception& e) {
        EXPECT_STREQ(e.what(), "the user's own") << "split: " << split;
      }
    }
}

TEST(Errors, NoMemoryIsSaidInWords) {
  TestHook hook;
  hook.at_point = [](const char* point, int) {
    if (std::string(point) == "plan") throw std::bad_alloc();
  };
  const ScopedTestHook scoped(hook);
  expect_error([] { Plan plan(Comm::self(), small_cube()); }, "plan: no memory left; expected fewer points");
}

TEST(Errors, ADirectionThatIsNone) {
  const Plan plan(Comm::self(), small_cube());
  expect_error([&] { static_cast<void>(plan.program_to_string(static_cast<Direction>(2))); },
               "2; expected forward (0) or backward (1)");
}

TEST(Plan, TakesComplexArraysAsTheRealNumbersTheyConsistOf) {
  ThreadTeam team(2);
  team.run([](const Comm& comm) {
    Plan plan(comm, small_cube());
    Buffer<double> in(2 * plan.input_count()), out(2 * plan.output_count());
    if (comm.rank() == 0) in[0] = 3;  // an impulse at the origin
    plan.forward(in.data(), out.data());
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], i % 2 == 0 ? 3 : 0, 1e-14);
    plan.start_backward(out.data(), in.data());
    plan.wait();
    expect_error([&] { plan.forward(reinterpret_cast<const float*>(in.data()), out.data()); },
                 "elements of float; expected std::complex<double> or double");
  });
}

TEST(Errors, UnknownVariablesAreWarnedOfOnceAndNameTheNearest) {
  const auto planning = [] { const Plan plan(Comm::self(), small_cube()); };
  const ScopedVariable mistyped("WEFT_PIPLINE", "windowed"), of_tests("WEFT_TEST_OF_ANOTHER_PROGRAM", "1");
  const std::string text = warnings_of([&] {
    planning();
    planning();
  });
  EXPECT_EQ(text,
            "weft: warning: environment variable WEFT_PIPLINE is not known and has no effect; the nearest is "
            "WEFT_PIPELINE\n");
  const ScopedVariable other("WEFT_QUITE_ANOTHER", "1");
  testing::internal::CaptureStderr();
  {
    const ScopedVariable warnings("WEFT_WARNINGS", "off");
    planning();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(warnings_of(planning),
            "weft: warning: environment variable WEFT_QUITE_ANOTHER is not known and has no effect\n");
}

TEST(Errors, UnknownNamesOfOptionsAndTheirValuesNameTheNearest) {
  Options options;
  expect_error([&] { options.set("exchnage", "p2p"); }, "; the nearest is exchange");
  expect_error([&] { options.set("exchange", "direct,cpoy"); }, "; the nearest is copy");
  expect_error([&] { options.set("pipeline", "two_front"); }, "; the nearest is two-front");
}

TEST(Errors, BadValuesOfVariables) {
  const Problem p = small_cube();
  {
    const ScopedVariable variable("WEFT_PIPELINE", "windy");
    expect_error([&] { Plan plan(Comm::self(), p); }, "auto, sequential, th, windowed");
  }
  {
    const ScopedVariable variable("WEFT_PIPELINE", "windowed");
    EXPECT_EQ(Options().get("pipeline"), "windowed");
    EXPECT_EQ(Options().set("pipeline", "sequential").get("pipeline"), "sequential");
  }
  EXPECT_EQ(Options().get("pipeline"), "auto");
}

TEST(Errors, DirectExchangeNeedsWorkspaceOfThePlan) {
  ThreadTeam team(2);
  team.run([](const Comm& comm) {
    expect_error(
        [&] { Plan plan(comm, small_cube(), Options().set("workspace", "user").set("exchange", "direct")); },
        "workspace of the plan");
    expect_error([&] { Plan plan(comm, small_cube(), Options().set("exchange", "p2p")); }, "p2p");
  });
}

TEST(Errors, MisuseLosesNothing) {
  const auto misuse_then_use = [](const Comm& comm) {
    Plan plan(comm, small_cube());
    Buffer<Complex> in(plan.input_count()), out(plan.output_count());
    const Complex* good = in.data();
    // One rank alone is wrong; all hear of it, and the plan is as good as before.
    expect_error([&] { plan.forward(comm.rank() == comm.size() - 1 ? nullptr : good, out.data()); },
                 "in is null");
    plan.forward(good, out.data());
    comm.barrier();
  };
  misuse_then_use(Comm::self());
  ThreadTeam team(3);
  team.run(misuse_then_use);
}

TEST(Errors, ABarrierOfAPoisonedTeamNeverPasses) {
  ThreadTeam team(2);
  expect_error(
      [&] {
        team.run([](const Comm& comm) {
          if (comm.rank() == 1) throw Error("test", "gone", "");
          for (int i = 0; i < 2; ++i) expect_error([&] { comm.barrier(); }, "gone");
        });
      },
      "gone");
}

TEST(Errors, WhatHasBeenMovedAwaySaysSo) {
  // NOLINTBEGIN(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
  Plan plan(Comm::self(), small_cube());
  const Plan other = std::move(plan);
  expect_error([&] { static_cast<void>(plan.workspace_bytes()); }, "moved away");
  Comm comm = Comm::self();
  const Comm moved = std::move(comm);
  expect_error([&] { static_cast<void>(comm.rank()); }, "moved away");
  Buffer<int> a(5);
  const Buffer<int> b = std::move(a);
  EXPECT_EQ(a.size(), 0u);
  // NOLINTEND(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
  EXPECT_THROW(Buffer<double>(std::size_t{1} << 61), std::bad_alloc);
}

TEST(Plan, InPlaceARankWithoutPointsOnOneSideMayPassNullThere) {
  ThreadTeam team(3);
  team.run([](const Comm& comm) {
    Problem p;
    p.shape = {6, 6};
    p.in_place = true;
    p.input = Distribution::grid({2, 1});  // rank 2 holds nothing before,
    p.output = Distribution::slab(1);      // and something after
    Plan plan(comm, p);
    Buffer<Complex> data(plan.buffer_bytes() / sizeof(Complex));
    const Complex* in = plan.input_count() > 0 ? data.data() : nullptr;
    plan.forward(in, data.data());
    plan.backward(static_cast<const Complex*>(data.data()), plan.input_count() > 0 ? data.data() : nullptr);
  });
}

TEST(Plan, OutlivesItsTeamAndMoves) {
  std::vector<std::unique_ptr<Plan>> plans(3);
  {
    ThreadTeam team(3);
    team.run([&](const Comm& comm) {
      Plan first(comm, small_cube());
      plans[static_cast<std::size_t>(comm.rank())] = std::make_unique<Plan>(std::move(first));
    });
  }
  for (auto& p : plans) EXPECT_FALSE(p->to_string().empty());
}

}  // namespace weft::test
