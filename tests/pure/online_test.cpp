// Tuning by executions, without plans: a function of the options stands for the machine.
#include "tune/online.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "tune/drift.hpp"

namespace weft::test {

namespace {

double number(const Settings& s, const std::string& name, double otherwise) {
  return s.contains(name) ? std::stod(s.at(name)) : otherwise;
}

std::string text_of(const Settings& s) {
  std::string text;
  for (const auto& [name, value] : s) text += name + "=" + value + " ";
  return text;
}

/// A plan has an exchange, a tile and a window: by rule a, 16 and 1.
class FakeCandidates final : public Candidates {
 public:
  std::string plan_of(const Settings& s) override {
    ++asked;
    if (s.contains("exchange") && s.at("exchange") == "none") return "";
    const Settings all{{"exchange", s.contains("exchange") ? s.at("exchange") : "a"},
                       {"tile", std::to_string(number(s, "tile", 16))},
                       {"window", std::to_string(number(s, "window", 1))}};
    return text_of(all);
  }
  std::vector<Dimension> parameters(const Settings&) override {
    return {{"tile", log_values(1, 256)}, {"window", all_values(1, 4)}};
  }
  std::vector<Point> starts(const Settings&, const std::vector<Dimension>&) override {
    return {{16, 1}, {256, 4}};
  }
  bool feasible(const Settings&) override { return true; }
  int asked = 0;
};

/// Seconds by options and direction.
using Machine = std::function<double(const Settings&, int way)>;

struct Executed {
  double sum = 0;
  std::vector<double> lost;  ///< of each execution, beside the best plan that was known before it
  std::vector<std::string> plans;
  int making = 0;  ///< plans made
};

OnlineRequest request(int executions) {
  OnlineRequest r;
  r.search.groups = {{{}, {{"exchange", "b"}}, {{"exchange", "none"}}, {{"exchange", "c"}}}};
  r.search.parameters = true;
  r.executions = executions;
  return r;
}

/// `way_of` gives the direction of an execution by its number.
Executed execute(
    OnlineTuner& tuner, const Machine& machine, int executions, double making_s = 0,
    const std::function<int(int)>& way_of = [](int) { return 0; }) {
  Executed run;
  Settings before = tuner.best();
  for (int i = 0; i < executions; ++i) {
    const int way = way_of(i);
    const Settings now = tuner.next(way);
    const double seconds = machine(now, way), best = machine(tuner.best(), way);
    const bool made = now != before && now != tuner.best();
    before = now;
    run.making += made ? 1 : 0;
    run.sum += seconds + (made ? making_s : 0);
    run.lost.push_back(seconds / best - 1);
    run.plans.push_back(text_of(now));
    if (!tuner.settled()) tuner.executed(way, {seconds, made ? making_s : 0, false});
  }
  return run;
}

/// Smooth in the logarithm of the tile: 64 and window 3 are best, 0.8 of the rule's; exchange b is a little
/// better still, c is not.
double valley(const Settings& s, int) {
  const std::string exchange = s.contains("exchange") ? s.at("exchange") : "a";
  const double other = exchange == "b" ? 0.94 : exchange == "c" ? 1.3 : 1;
  return other * (0.8 + 0.04 * std::abs(std::log2(number(s, "tile", 16)) - 6) +
                  0.03 * std::abs(number(s, "window", 1) - 3) + 0.0);
}

double valley_best() {
  return valley({{"exchange", "b"}, {"tile", "64"}, {"window", "3"}}, 0);
}

}  // namespace

TEST(Online, FindsTheBottomOfAValleyAndStaysThere) {
  FakeCandidates candidates;
  OnlineTuner tuner(candidates, request(40));
  const Executed run = execute(tuner, valley, 60);
  EXPECT_TRUE(tuner.settled());
  EXPECT_LE(tuner.executions(), 40);
  EXPECT_LE(valley(tuner.best(), 0), 1.03 * valley_best()) << text_of(tuner.best());
  EXPECT_LT(tuner.best_ratio(), 0.9);
  for (int i = 45; i < 60; ++i) EXPECT_EQ(run.plans[static_cast<std::size_t>(i)], text_of(tuner.best()));
  EXPECT_LT(run.sum, 60 * valley({}, 0));
}

TEST(Online, TwentyExecutionsCostAtMostAQuarterMoreAndGainMostOfIt) {
  FakeCandidates candidates;
  OnlineTuner tuner(candidates, request(20));
  const double rule = valley({}, 0);
  const Executed run = execute(tuner, valley, 20, 0.05 * rule);
  EXPECT_LE(run.sum, 1.25 * 20 * rule);
  tuner.next(0);
  EXPECT_TRUE(tuner.settled());
  EXPECT_LE(valley(tuner.best(), 0), 1.1 * valley_best()) << text_of(tuner.best());
}

/// A solver with three fields transforms them one after the other.
TEST(Online, SeveralForwardAndThenSeveralBackwardFindTheValleyToo) {
  FakeCandidates candidates;
  OnlineTuner tuner(candidates, request(60));
  execute(tuner, valley, 61, 0, [](int i) { return i / 3 % 2; });
  EXPECT_TRUE(tuner.settled());
  EXPECT_LE(valley(tuner.best(), 0), 1.05 * valley_best()) << text_of(tuner.best());
}

TEST(Online, AFirstPlanThatCannotBeMadeAgainEndsTheSearchAndWhatRunsGoesOn) {
  FakeCandidates candidates;
  OnlineTuner tuner(candidates, request(40));
  execute(tuner, valley, 8);
  const Settings now = tuner.next(0);
  tuner.executed(0, {valley(now, 0), 0, false});
  ASSERT_FALSE(now.empty());
  ASSERT_TRUE(tuner.next(1).empty());  // what the other direction is compared with
  tuner.impossible(tuner.plan_of(now));
  EXPECT_EQ(tuner.next(1), now);
  EXPECT_TRUE(tuner.settled());
}

/// On a surface whose neighbours differ by less than 5%, no try loses more than that.
TEST(Online, NoExecutionLosesMoreThanAFewPercentWhereNeighboursAreAlike) {
  FakeCandidates candidates;
  OnlineRequest r = request(40);
  r.search.groups = {{{}}};
  OnlineTuner tuner(candidates, r);
  const Machine machine = [](const Settings& s, int way) { return 0.2 + valley(s, way); };
  const Executed run = execute(tuner, machine, 40);
  for (std::size_t i = 3; i < run.lost.size(); ++i) EXPECT_LE(run.lost[i], 0.05) << i << " " << run.plans[i];
  EXPECT_LE(machine(tuner.best(), 0), 1.02);
}

/// What tries lose was saved before, but for what the last one lost more than was expected of it.
TEST(Online, WhatIsLostIsBoundedWhateverIsTried) {
  for (const double bad : {1.2, 2.0, 5.0}) {
    FakeCandidates candidates;
    OnlineTuner tuner(candidates, request(40));
    const Machine machine = [&](const Settings& s, int) {
      return candidates.plan_of(s) == candidates.plan_of({}) ? 1.0 : bad;
    };
    const Executed run = execute(tuner, machine, 40);
    double lost = 0;
    for (std::size_t i = 3; i < run.lost.size(); ++i) {
      EXPECT_TRUE(run.lost[i] == 0 || lost < 0.05 * static_cast<double>(i - 2)) << bad << " " << i;
      lost += run.lost[i];
    }
    EXPECT_LE(lost, 0.05 * 37 + bad - 1);
    EXPECT_TRUE(tuner.best().empty());
    EXPECT_EQ(tuner.best_ratio(), 1);
    // A bad try is left after one execution.
    for (std::size_t i = 1; i < run.lost.size(); ++i)
      EXPECT_TRUE(run.lost[i] == 0 || run.lost[i - 1] == 0 || i < 4);
  }
}

TEST(Online, WherePlansTakeLongToMakeFewAreMade) {
  FakeCandidates candidates;
  OnlineRequest r = request(20);
  r.making_s = 3;  // times an execution
  OnlineTuner tuner(candidates, r);
  const Executed run = execute(
      tuner, [](const Settings&, int) { return 1.0; }, 20, 3);
  EXPECT_EQ(run.making, 0);
  r.executions = 200;
  OnlineTuner longer(candidates, r);
  const Executed more = execute(
      longer, [](const Settings&, int) { return 1.0; }, 200, 3);
  EXPECT_GT(more.making, 0);
  EXPECT_LE(more.sum, 1.1 * 200);
}

TEST(Online, NoiseDoesNotMakeItWorse) {
  std::mt19937_64 random(7);
  int worse = 0, better = 0;
  for (int problem = 0; problem < 50; ++problem) {
    FakeCandidates candidates;
    OnlineTuner tuner(candidates, request(20));
    execute(
        tuner,
        [&](const Settings& s, int way) {
          return valley(s, way) * (1 + 0.1 * static_cast<double>(random() % 1000) / 1000);
        },
        21);
    const double ratio = valley(tuner.best(), 0) / valley({}, 0);
    worse += ratio > 1.02 ? 1 : 0;
    better += ratio < 0.97 ? 1 : 0;
  }
  EXPECT_EQ(worse, 0);
  EXPECT_GT(better, 35);
}

TEST(Online, WhatIsGoodInOneDirectionAloneIsNotTaken) {
  FakeCandidates candidates;
  OnlineTuner tuner(candidates, request(30));
  const Machine machine = [](const Settings& s, int way) {
    if (s.contains("exchange") && s.at("exchange") == "b") return way == 0 ? 0.7 : 2.0;
    return way == 0 ? 1.0 : 1.5;
  };
  execute(tuner, machine, 31, 0, [](int i) { return i % 2; });
  EXPECT_FALSE(tuner.best().contains("exchange")) << text_of(tuner.best());
  EXPECT_EQ(tuner.first_seconds(0), 1.0);
  EXPECT_EQ(tuner.first_seconds(1), 1.5);
}

TEST(Online, WhatCannotBeMadeOrWasDisturbedIsLeft) {
  FakeCandidates candidates;
  OnlineTuner tuner(candidates, request(30));
  int impossible = 0;
  for (int i = 0; i < 30 && !tuner.settled(); ++i) {
    Settings now = tuner.next(0);
    while (now.contains("exchange") && now.at("exchange") == "b") {
      ++impossible;
      tuner.impossible(tuner.plan_of(tuner.best()));
      now = tuner.next(0);
    }
    const bool c = now.contains("exchange") && now.at("exchange") == "c";
    tuner.executed(0, {c ? 1e-9 : valley(now, 0), 0, c});
  }
  EXPECT_EQ(impossible, 1);
  EXPECT_FALSE(tuner.best().contains("exchange")) << text_of(tuner.best());
}

TEST(Online, OnlyWhatIsPredictedToBeGoodIsTried) {
  FakeCandidates candidates;
  OnlineRequest r = request(20);
  for (const auto& [exchange, seconds] : std::map<std::string, double>{{"a", 1}, {"b", 1.2}, {"c", 0.9}})
    r.predicted[candidates.plan_of({{"exchange", exchange}})] = seconds;
  OnlineTuner tuner(candidates, r);
  const Executed run = execute(
      tuner, [](const Settings&, int) { return 1.0; }, 20);
  EXPECT_TRUE(std::any_of(run.plans.begin(), run.plans.end(), [](auto& p) { return p == "exchange=c "; }));
  EXPECT_TRUE(std::none_of(run.plans.begin(), run.plans.end(),
                           [](auto& p) { return p.find("exchange=b") != std::string::npos; }));
}

TEST(Online, WhatPredictionsLeaveOutIsTriedAllTheSame) {
  FakeCandidates candidates;
  OnlineRequest r = request(20);
  r.predicted[candidates.plan_of({})] = 1;
  r.left_out.insert(candidates.plan_of({{"exchange", "b"}}));
  OnlineTuner tuner(candidates, r);
  const Executed run = execute(
      tuner, [](const Settings& s, int) { return s.contains("exchange") ? 0.5 : 1.0; }, 20);
  EXPECT_TRUE(std::none_of(run.plans.begin(), run.plans.end(),
                           [](auto& p) { return p.find("exchange=c") != std::string::npos; }));
  ASSERT_TRUE(tuner.best().contains("exchange"));
  EXPECT_EQ(tuner.best().at("exchange"), "b");
}

TEST(Online, EqualTimesMakeEqualDecisions) {
  FakeCandidates candidates;
  OnlineTuner one(candidates, request(30)), other(candidates, request(30));
  std::mt19937_64 random(3);
  for (int i = 0; i < 35; ++i) {
    const int way = static_cast<int>(random() % 2);
    const Settings now = one.next(way);
    ASSERT_EQ(now, other.next(way));
    const OnlineTime time{valley(now, way) * (1 + 0.3 * static_cast<double>(random() % 100) / 100),
                          random() % 5 == 0 ? 0.1 : 0.0, random() % 7 == 0};
    if (one.settled()) continue;
    one.executed(way, time);
    other.executed(way, time);
  }
  EXPECT_TRUE(one.settled() && other.settled());
  EXPECT_EQ(one.best(), other.best());
}

TEST(Online, ASearchWithNothingToTrySettles) {
  FakeCandidates candidates;
  OnlineRequest r = request(20);
  r.search.groups = {{{}}};
  r.search.parameters = false;
  OnlineTuner tuner(candidates, r);
  const Executed run = execute(
      tuner, [](const Settings&, int) { return 1.0; }, 4);
  EXPECT_TRUE(tuner.settled());
  EXPECT_EQ(tuner.tried(), 0);
  EXPECT_EQ(run.sum, 4);
}

namespace {

/// Executes until one is measured; whether it looks again then. `count`: how many that took.
bool measured(Drift& drift, double seconds, int& count) {
  count = 1;
  while (!drift.begin(0)) ++count;
  return drift.executed(0, seconds);
}

}  // namespace

TEST(Drift, ThinsOutWhileTimesStayAndComesBackWhenTheyRise) {
  Drift drift;
  drift.expect(0, 1);
  int count = 0;
  for (const int spacing : {8, 16, 32, 64, 128, 256, 256}) {
    EXPECT_FALSE(measured(drift, 1.1, count));
    EXPECT_EQ(count, spacing);
  }
  EXPECT_FALSE(measured(drift, 1.4, count));
  EXPECT_FALSE(measured(drift, 1.4, count));
  EXPECT_EQ(count, 1);
  EXPECT_FALSE(measured(drift, 1.0, count));  // it was nothing
  EXPECT_FALSE(measured(drift, 1.4, count));
  EXPECT_FALSE(measured(drift, 1.4, count));
  EXPECT_FALSE(measured(drift, 0, count));  // says nothing, which may be so for ever
  EXPECT_TRUE(measured(drift, 1.4, count));
  EXPECT_EQ(count, 8);
}

TEST(Drift, WhatTakesLessIsExpectedFromThenOn) {
  Drift drift;
  int count = 0;
  EXPECT_FALSE(measured(drift, 1, count));  // nothing was expected
  for (const double seconds : {0.5, 0.6, 0.55}) EXPECT_FALSE(measured(drift, seconds, count));
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(measured(drift, 0.8, count));
  EXPECT_TRUE(measured(drift, 0.8, count));
}

}  // namespace weft::test
