// Plans on a machine that is described, by a file or by wisdom, on thread ranks: who chose, what they
// explain, and that their results are right.
#include <gtest/gtest.h>

#include <algorithm>

#include "api/option_table.hpp"
#include "model/machine_json.hpp"
#include "support/description_file.hpp"
#include "support/expect_error.hpp"
#include "support/random_problem.hpp"
#include "support/says.hpp"
#include "support/tuned.hpp"
#include "tune/machine.hpp"
#include "tune/wisdom_file.hpp"
#include "tune/wisdom_store.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

/// On three ranks more than a cache holds, so that the rules cut it into many tiles.
Problem described_problem() {
  Problem p;
  p.shape = {96, 80, 72};
  return p;
}

/// Operations take long here, and the rules' many tiles have many: their choice is not the fastest.
MachineDescription where_windows_win() {
  MachineDescription m = described_machine();
  m.processor.cache_bytes = 1 << 12;
  m.processor.operation_s = 1e-4;
  return m;
}

Explanation explanation_of(ThreadTeam& team, const Problem& problem, const Options& options) {
  Explanation result;
  team.run([&](const Comm& comm) {
    const Plan plan(comm, problem, options);
    const Explanation mine = plan.explain();
    if (comm.rank() == 0) result = mine;
  });
  return result;
}

}  // namespace

TEST(DescribedMachine, ChoosesForAllRanks) {
  forget_wisdom();
  const DescriptionFile file(where_windows_win());
  ThreadTeam team(3);
  const PlanRecord r = record(team, described_problem(), Options().set("machine", file.name()));
  EXPECT_EQ(r.plans, 1);  // nothing is tried
  ASSERT_TRUE(r.learnt.machine);
  ASSERT_GT(r.learnt.candidates.size(), 1U);
  EXPECT_EQ(r.learnt.origin, Origin::model) << r.learnt.text;
  EXPECT_TRUE(says(r.text, "predicted: "));
  EXPECT_TRUE(says(r.text, "; by rule "));
  EXPECT_EQ(record(team, described_problem(), Options().set("machine", "none")).learnt.origin, Origin::rule);
}

TEST(DescribedMachine, RandomProblemsComeOutRight) {
  forget_wisdom();
  const DescriptionFile file(where_windows_win());
  int chosen = 0;
  for (const int ranks : {2, 3, 4}) {
    ThreadTeam team(ranks);
    const std::uint64_t problems = static_cast<std::uint64_t>(problem_count(12));
    for (std::uint64_t seed = 1; seed <= problems; ++seed) {
      RandomProblem p =
          make_tuned_problem(1000 * static_cast<std::uint64_t>(ranks) + seed, ranks, false, "estimate");
      p.options.set("machine", file.name());
      ASSERT_NO_THROW(team.run([&](const Comm& comm) { run_random_problem(comm, p); })) << p.describe();
      chosen += record(team, described_problem(), p.options).learnt.origin == Origin::model ? 1 : 0;
    }
  }
  EXPECT_GT(chosen, 0);
}

TEST(DescribedMachine, IsFoundInWisdom) {
  forget_wisdom();
  const std::string file = new_wisdom_file();
  ThreadTeam team(2);
  team.run([&](const Comm& comm) {
    const Machine machine = machine_of(comm.impl(), {});
    if (comm.rank() != 0) return;
    WisdomStore::of_process().with(
        [&](Wisdom& w) { w.remember_description(machine.described(), to_json(where_windows_win())); });
    EXPECT_TRUE(export_wisdom(file));
  });
  EXPECT_EQ(record(team, described_problem(), {}).learnt.origin, Origin::model);  // of this process
  forget_wisdom();
  EXPECT_EQ(record(team, described_problem(), {}).learnt.origin, Origin::rule);
  EXPECT_EQ(record(team, described_problem(), Options().set("wisdom", file)).learnt.origin, Origin::model);
  // Of another number of ranks, with the same links.
  ThreadTeam three(3);
  EXPECT_EQ(record(three, described_problem(), Options().set("wisdom", file)).learnt.origin, Origin::model);
  remove_wisdom(file);
  forget_wisdom();
}

TEST(DescribedMachine, IsLeftOutWhereWisdomIsWrong) {
  forget_wisdom();
  ThreadTeam team(2);
  team.run([&](const Comm& comm) {
    const Machine machine = machine_of(comm.impl(), {});
    if (comm.rank() == 0)
      WisdomStore::of_process().with(
          [&](Wisdom& w) { w.remember_description(machine.described(), R"({"weft_machine": 1})"); });
  });
  const std::string said =
      warnings_of([&] { EXPECT_EQ(record(team, described_problem(), {}).learnt.origin, Origin::rule); });
  EXPECT_TRUE(says(said, "what wisdom says of the machine is not used"));
  forget_wisdom();
}

TEST(DescribedMachine, WrongFilesAreErrorsOnAllRanks) {
  ThreadTeam team(2);
  const auto plan = [&](const std::string& file) {
    record(team, described_problem(), Options().set("machine", file));
  };
  expect_error([&] { plan("/nowhere/machine.json"); }, "option machine");
  const DescriptionFile no_json("{");
  expect_error([&] { plan(no_json.name()); }, "option machine");
  MachineDescription negative = described_machine();
  negative.processor.operation_s = -1;
  const DescriptionFile wrong(to_json(negative));
  expect_error([&] { plan(wrong.name()); }, "operation_s");
  EXPECT_EQ(record(team, described_problem(), {}).plans, 1);  // the ranks live on
}

TEST(DescribedMachine, ExplainsItsChoice) {
  forget_wisdom();
  const DescriptionFile file(where_windows_win());
  ThreadTeam team(3);
  const Explanation e = explanation_of(team, described_problem(), Options().set("machine", file.name()));
  ASSERT_GT(e.candidates.size(), 1U);
  EXPECT_GT(e.predicted_s, 0);
  EXPECT_NEAR(e.predicted_s, e.candidates.front().predicted_s, 1e-9);
  double hangs_on = 0;
  for (const auto& [kind, seconds] : e.hangs_on) hangs_on += seconds;
  EXPECT_NEAR(hangs_on, e.predicted_s, 1e-3 * e.predicted_s);
  const std::string text = to_string(e);
  EXPECT_TRUE(says(text, "chosen predicted to be the fastest"));
  EXPECT_TRUE(says(text, "bound by"));
  EXPECT_TRUE(says(text, e.candidates.front().summary));
}

TEST(DescribedMachine, GoesByRulesWhereAFigureIsMissingAndSaysSo) {
  forget_wisdom();
  MachineDescription machine = described_machine();
  machine.links.erase(machine.links.begin() + 1);  // stores
  const DescriptionFile file(machine);
  ThreadTeam team(2);
  const Options options = Options().set("machine", file.name());
  const PlanRecord r = record(team, described_problem(), options);
  EXPECT_EQ(r.learnt.origin, Origin::rule);
  EXPECT_TRUE(says(r.text, "not predicted, chosen by rules"));
  const Explanation e = explanation_of(team, described_problem(), options);
  EXPECT_EQ(e.predicted_s, 0);
  EXPECT_TRUE(says(e.bound, "stores within a machine"));
}

TEST(DescribedMachine, ACodecThatTheUserHasChosenStays) {
  const Options open = Options().set("tolerance", "1e-4"), exact = Options(open).set("codec", "none");
  EXPECT_NO_THROW(check_learnt(open, {{"codec", "fp32"}}));
  expect_error([&] { check_learnt(exact, {{"codec", "fp32"}}); }, "left open");
  expect_error([&] { check_learnt(Options(), {{"codec", "fp32"}}); }, "left open");
}

TEST(DescribedMachine, ExplainsWhatIsNotDescribed) {
  forget_wisdom();
  ThreadTeam team(2);
  const Explanation e = explanation_of(team, described_problem(), {});
  EXPECT_TRUE(e.candidates.empty());
  EXPECT_EQ(e.predicted_s, 0);
  EXPECT_TRUE(says(to_string(e), "--measure-machine"));
}

TEST(DescribedMachine, TrialsBeginWithWhatIsPredictedAndAreExplained) {
  forget_wisdom();
  const DescriptionFile file(where_windows_win());
  const std::string wisdom = new_wisdom_file();
  ThreadTeam team(2);
  const Options options = quick("measure", wisdom, 6).set("machine", file.name());
  const PlanRecord r = record(team, described_problem(), options);
  ASSERT_EQ(r.learnt.origin, Origin::trial);
  ASSERT_GT(r.learnt.tuned.timed.size(), 1U);
  EXPECT_TRUE(r.learnt.tuned.timed.front().what.options.empty());  // the rules' choice
  // Then what is predicted to be fastest, with the constants that were measured on this machine.
  const Settings& second = r.learnt.tuned.timed[1].what.options;
  const auto tried = std::find_if(r.learnt.candidates.begin(), r.learnt.candidates.end(),
                                  [&](const Candidate& c) { return c.options == second; });
  ASSERT_NE(tried, r.learnt.candidates.end());
  for (const Candidate& c : r.learnt.candidates)
    EXPECT_TRUE(c.options.empty() || tried->predicted_s <= c.predicted_s * (1 + 1e-9));
  ASSERT_FALSE(r.learnt.candidates.empty());
  EXPECT_EQ(r.learnt.candidates.front().options, r.learnt.options);
  for (const Candidate& c : r.learnt.candidates) {
    EXPECT_GT(c.measured_s, 0);
    EXPECT_GT(c.predicted_s, 0);
  }
  // And wisdom has kept it.
  const PlanRecord again = record(team, described_problem(), options);
  EXPECT_EQ(again.learnt.origin, Origin::wisdom);
  EXPECT_EQ(again.learnt.candidates, r.learnt.candidates);
  remove_wisdom(wisdom);
  forget_wisdom();
}

}  // namespace weft::test
