// Efforts that make trials, and what wisdom does with what they find, on thread ranks. Times decide what is
// found, so that the tests hold whatever it is.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/test_hook.hpp"
#include "support/disturbance.hpp"
#include "support/expect_error.hpp"
#include "support/says.hpp"
#include "support/scoped_variable.hpp"
#include "support/tuned.hpp"
#include "tune/wisdom_file.hpp"
#include "tune/wisdom_store.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

Problem box(Index n, Index m = 8) {
  Problem p;
  p.shape = {n, m, 8};
  return p;
}

/// A transform by this plan is right.
void expect_right(ThreadTeam& team, const Problem& problem, const Options& options) {
  team.run([&](const Comm& comm) {
    Plan plan(comm, problem, options);
    using Complex = std::complex<double>;
    Buffer<Complex> in(plan.input_count()), out(plan.output_count());
    for (Complex& x : in) x = 1;
    plan.forward(static_cast<const Complex*>(in.data()), out.data());
    const Box b = plan.output_box();
    const bool has_origin = !b.empty() && b.lo[0] == 0 && b.lo[1] == 0 && b.lo[2] == 0;
    double rest = 0;
    for (const Complex& x : out) rest += std::abs(x);
    const double size = plan.scale_factor();
    EXPECT_NEAR(rest, has_origin ? size : 0, 1e-9 * size);
  });
}

std::atomic<int> times_asked;

/// Once, on whichever rank asks second.
bool interrupt_once() {
  return ++times_asked == 2;
}

}  // namespace

TEST(Tuning, IsInterruptedOnAllRanksByOne) {
  forget_wisdom();
  ThreadTeam team(3);
  Options options;
  options.set("effort", "measure").set("trials", 3);
  times_asked = 0;
  interrupt_trials_if(interrupt_once);
  team.run([&](const Comm& comm) {
    expect_error([&] { Plan(comm, box(12), options); }, "trials that the program has interrupted");
  });
  EXPECT_EQ(times_asked, 3);             // once on each rank
  expect_right(team, box(12), options);  // asked again, nobody interrupts
  EXPECT_GT(times_asked, 3);
  interrupt_trials_if(nullptr);
  times_asked = 0;
  forget_wisdom();
  expect_right(team, box(12), options);
  EXPECT_EQ(times_asked, 0);
}

TEST(Tuning, EveryKindOfProblemComesOutRight) {
  forget_wisdom();
  for (const int ranks : {2, 3, 4}) {
    ThreadTeam team(ranks);
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const char* efforts[] = {"patient", "measure"};
      const RandomProblem p = make_tuned_problem(100 * static_cast<std::uint64_t>(ranks) + seed, ranks, false,
                                                 efforts[seed % 3 == 0]);
      const ScopedTestHook hook(disturbance(false));
      ASSERT_NO_THROW(team.run([&](const Comm& comm) { run_random_problem(comm, p); })) << p.describe();
    }
  }
  forget_wisdom();
}

TEST(Tuning, SearchesAtRandomToo) {
  forget_wisdom();
  ThreadTeam team(2);
  const PlanRecord r =
      record(team, box(16), quick("patient", "", 6).set("search", "random").set("pipeline", "windowed"));
  EXPECT_GT(r.plans, 1);
  EXPECT_EQ(r.learnt.origin, Origin::trial);
  forget_wisdom();
}

TEST(Tuning, KeepsWhatTheUserHasChosen) {
  forget_wisdom();
  ThreadTeam team(3);
  const Options o = quick("patient").set("exchange", "copy").set("pipeline", "windowed").set("tile", "2");
  const PlanRecord r = record(team, box(12), o);
  EXPECT_GT(r.plans, 1);
  int cut = 0;
  for (const Leg& leg : all_legs(r.design)) {
    EXPECT_EQ(leg.exchange, "copy");
    EXPECT_EQ(leg.pipeline, "windowed");
    if (leg.axis < 0) continue;  // nothing that tiles could cut
    ++cut;
    const auto tile = find_parameter(leg, "tile");
    ASSERT_TRUE(tile);
    EXPECT_EQ(tile->value, 2);
    EXPECT_EQ(tile->origin, "option");
  }
  EXPECT_GT(cut, 0);
  // What cannot be planned at all is an error as it is without trials, and the team lives on.
  expect_error([&] { record(team, box(12), quick("measure").set("tile", "1000")); }, "option tile");
  EXPECT_GE(record(team, box(12), Options()).plans, 1);
  forget_wisdom();
}

TEST(Tuning, OfOneRankOrWithoutTrialsOrTimeIsThePlanOfTheRules) {
  forget_wisdom();
  const std::string file = new_wisdom_file();
  ThreadTeam one(1), two(2);
  EXPECT_EQ(record(one, box(16), quick("measure", file)).plans, 1);
  EXPECT_EQ(read_wisdom(file).kind, WisdomText::Kind::wisdom);  // the machine's constants, and FFTW's wisdom
  EXPECT_FALSE(read_wisdom(file).wisdom.empty());
  EXPECT_EQ(record(two, box(16), quick("patient", "", 0)).plans, 1);
  // One trial is always made.
  const PlanRecord late = record(two, box(16), quick("patient").set("budget", "0"));
  EXPECT_EQ(late.learnt.tuned.trials, 1);
  EXPECT_FALSE(late.learnt.tuned.finished);
  remove_wisdom(file);
  forget_wisdom();
}

TEST(Tuning, MakesNoTrialsWhileAnExecutionIsUnderWay) {
  forget_wisdom();
  ThreadTeam team(2);
  team.run([&](const Comm& comm) {
    using Complex = std::complex<double>;
    Plan plan(comm, box(8));
    Buffer<Complex> in(plan.input_count()), out(plan.output_count());
    plan.start_forward(static_cast<const Complex*>(in.data()), out.data());
    const Plan beside(comm, box(16), quick("measure"));
    EXPECT_EQ(learnt_of(beside).origin, Origin::rule);
    EXPECT_EQ(learnt_of(beside).tuned.trials, 0);
    plan.wait();
  });
  forget_wisdom();
}

TEST(TunedWisdom, MakesNoTrialAndTheSamePlan) {
  ThreadTeam team(3);
  for (const char* effort : {"measure", "patient"}) {
    forget_wisdom();
    const std::string file = new_wisdom_file();
    const Problem a = box(24, 15), b = box(16);
    const PlanRecord found = record(team, a, quick(effort, file));
    EXPECT_GT(found.plans, 2);
    EXPECT_EQ(found.learnt.origin, Origin::trial);
    // Another problem in the same file.
    const PlanRecord other = record(team, b, quick(effort, file));
    EXPECT_GT(other.plans, 2);
    for (const bool fresh : {false, true}) {
      if (fresh) forget_wisdom();
      const PlanRecord again = record(team, a, quick(effort, file));
      EXPECT_EQ(again.plans, 1);
      EXPECT_EQ(again.learnt.origin, Origin::wisdom);
      EXPECT_EQ(again.learnt.options, found.learnt.options);
      EXPECT_EQ(again.identity, found.identity);
      EXPECT_EQ(record(team, b, quick(effort, file)).identity, other.identity);
    }
    // Less effort takes what more has found; more effort does not take what less has found.
    forget_wisdom();
    const Options with = Options().set("wisdom", file);
    EXPECT_EQ(record(team, a, with).learnt.origin, Origin::wisdom);
    if (std::string(effort) == "measure") {
      EXPECT_GT(record(team, a, quick("patient", file)).plans, 1);
    }
    // Other ranks, another choice of the user's: another problem.
    ThreadTeam two(2);
    const std::string said = warnings_of([&] {
      EXPECT_EQ(record(two, a, with).learnt.origin, Origin::rule);
      EXPECT_EQ(record(team, a, Options(with).set("layout", "strided")).learnt.origin, Origin::rule);
    });
    EXPECT_EQ(said, "");
    remove_wisdom(file);
  }
  forget_wisdom();
}

TEST(TunedWisdom, OfASearchThatWasCutShortServesUntilThereIsMoreTime) {
  ThreadTeam team(2);
  const std::string file = new_wisdom_file();
  const auto with_budget = [&](const char* budget) {
    forget_wisdom();
    return record(team, box(16), quick("measure", file).set("budget", budget)).learnt;
  };
  const Learnt cut_short = with_budget("0");
  EXPECT_EQ(cut_short.origin, Origin::trial);
  EXPECT_FALSE(cut_short.tuned.finished);
  EXPECT_EQ(with_budget("0").origin, Origin::wisdom);
  const Learnt longer = with_budget("100");
  EXPECT_EQ(longer.origin, Origin::trial);
  EXPECT_TRUE(longer.tuned.finished);
  EXPECT_EQ(with_budget("200").origin, Origin::wisdom);
  remove_wisdom(file);
  forget_wisdom();
}

TEST(TunedWisdom, ThatIsImpossibleIsSaidAndSurvived) {
  ThreadTeam team(3);
  const Problem p = box(12);
  const std::string file = new_wisdom_file();
  forget_wisdom();
  record(team, p, quick("measure", file));
  const std::string good = text_of_file(file);
  const Options with = Options().set("wisdom", file);
  // With the constants that were measured, which the file keeps too.
  const PlanIdentity rule = [&] {
    forget_wisdom();
    edit_options(file, "");
    return record(team, p, with).identity;
  }();
  // No such option or value, or one that is not to be chosen; and what planning finds to be impossible.
  for (const char* bad :
       {R"("flux": "1")", R"("exchange": "pigeon")", R"("workspace": "user")", R"("effort": "patient")",
        R"("tile": "wide")", R"("pipeline": "planes", "tile": "1000000")", R"("exchange": "p2p")",
        R"("exchange": "copy,direct,copy")", R"("tile": "1,2,3,4,5,6,7")", R"("tile": "-1")"}) {
    SCOPED_TRACE(bad);
    forget_wisdom();
    std::ofstream(file) << good;
    edit_options(file, bad);
    PlanRecord r;
    const std::string said = warnings_of([&] { r = record(team, p, with); });
    EXPECT_TRUE(says(said, "says of this problem"));
    EXPECT_EQ(r.plans, 1);
    EXPECT_EQ(r.learnt.origin, Origin::rule);
    EXPECT_EQ(r.identity.design, rule.design);
    expect_right(team, p, with);
  }
  remove_wisdom(file);
  forget_wisdom();
}

TEST(TunedWisdom, AFileThatCannotBeUsedIsSaidAndThePlanIsMade) {
  ThreadTeam team(2);
  const auto warned = [&](const std::string& file, const std::string& what) {
    forget_wisdom();
    PlanRecord r;
    const std::string said = warnings_of([&] { r = record(team, box(16), quick("measure", file)); });
    EXPECT_TRUE(says(said, what));
    EXPECT_GT(r.plans, 1);
    expect_right(team, box(16), quick("measure", file));
  };
  const std::string file = new_wisdom_file();
  std::ofstream(file) << "{\"weft_wisdom\": 1, ";
  warned(file, "damaged wisdom");
  EXPECT_EQ(text_of_file(file + ".corrupt"), "{\"weft_wisdom\": 1, ");
  EXPECT_EQ(read_wisdom(file).kind, WisdomText::Kind::wisdom);  // a new one
  std::ofstream(file) << "dear diary";
  warned(file, "not wisdom");
  EXPECT_EQ(text_of_file(file), "dear diary");
  std::ofstream(file) << "{\"weft_wisdom\": 7}";
  warned(file, "a later Weft wrote");
  EXPECT_EQ(text_of_file(file), "{\"weft_wisdom\": 7}");
  std::ofstream(file) << "{\"weft_wisdom\": 1}";
  chmod(file.c_str(), 0444);
  warned(file, "read-only");
  EXPECT_EQ(text_of_file(file), "{\"weft_wisdom\": 1}");
  warned(file + "/none", "wisdom is not saved");
  remove_wisdom(file);
  forget_wisdom();
}

TEST(TunedWisdom, AReadOnlyFileThatKnowsTheProblemServes) {
  ThreadTeam team(2);
  const std::string file = new_wisdom_file();
  forget_wisdom();
  record(team, box(16), quick("measure", file));
  chmod(file.c_str(), 0444);
  forget_wisdom();
  PlanRecord r;
  EXPECT_EQ(warnings_of([&] { r = record(team, box(16), quick("measure", file)); }), "");
  EXPECT_EQ(r.plans, 1);
  remove_wisdom(file);
  forget_wisdom();
}

TEST(TunedWisdom, TwoTeamsWriteOneFileAtOnce) {
  forget_wisdom();
  const std::string file = new_wisdom_file();
  const auto tunes = [&](int ranks, Index n) {
    ThreadTeam team(ranks);
    team.run([&](const Comm& comm) {
      for (Index m : {8, 10, 12}) const Plan plan(comm, box(n, m), quick("measure", file, 3));
    });
  };
  std::thread other([&] { tunes(2, 16); });
  tunes(3, 12);
  other.join();
  forget_wisdom();
  ThreadTeam two(2), three(3);
  for (Index m : {8, 10, 12}) {
    EXPECT_EQ(record(two, box(16, m), quick("measure", file)).plans, 1);
    EXPECT_EQ(record(three, box(12, m), quick("measure", file)).plans, 1);
  }
  remove_wisdom(file);
  forget_wisdom();
}

TEST(TunedWisdom, OfATuneThatIsKilledServes) {
  forget_wisdom();
  const std::string file = new_wisdom_file();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // Killed as it begins with another candidate after what it has found first is in the file.
    TestHook hook;
    hook.at_point = [&](const char* point, int rank) {
      if (std::string(point) == "plan" && rank == 0 &&
          text_of_file(file).find("unfinished") != std::string::npos)
        kill(getpid(), SIGKILL);
    };
    const ScopedTestHook scoped(hook);
    ThreadTeam(2).run([&](const Comm& comm) { const Plan plan(comm, box(16), quick("patient", file, 20)); });
    _exit(3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_EQ(read_wisdom(file).kind, WisdomText::Kind::wisdom);
  ThreadTeam team(2);
  const PlanRecord r = record(team, box(16), Options().set("wisdom", file));
  EXPECT_EQ(r.plans, 1);
  EXPECT_EQ(r.learnt.origin, Origin::wisdom);
  const auto known = nlohmann::json::parse(text_of_file(file))["problems"];
  ASSERT_EQ(known.size(), 1u);
  ASSERT_EQ(known.front().size(), 1u);
  EXPECT_EQ(known.front().front()["trials"], 1);
  // An effort that makes trials goes on.
  EXPECT_GT(record(team, box(16), quick("patient", file)).plans, 1);
  remove_wisdom(file);
  forget_wisdom();
}

TEST(Tuning, SaysHowFarItIsIfAskedTo) {
  forget_wisdom();
  const std::string file = new_wisdom_file();
  ThreadTeam team(2);
  const auto said = [&](const char* verbose, const Options& options) {
    const ScopedVariable variable("WEFT_VERBOSE", verbose);
    forget_wisdom();
    return warnings_of([&] { record(team, box(8), options); });
  };
  const std::string patient =
      said("1", quick("patient", file, 6).set("exchange", "copy").set("pipeline", "windowed"));
  for (const char* part :
       {"weft: trials of 8x8x8 c2c,c2c,c2c of complex float64, on 2 ranks (threads): at most 6, in 5 s; ",
        "the best so far is always in ",
        "weft: trial 1 of 6: as the rules choose: ", " ms, the best so far; ",
        "weft: trial 2 of 6: ", " s left\n", " for what parameters change", "weft: final: "})
    EXPECT_TRUE(says(patient, part));
  EXPECT_TRUE(says(said("1", quick("measure")), "option wisdom names a file for that"));
  EXPECT_EQ(said("0", quick("measure")), "");
  remove_wisdom(file);
  forget_wisdom();
}

}  // namespace weft::test
