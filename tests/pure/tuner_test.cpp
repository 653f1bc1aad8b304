// The tuner without plans: a list of times stands for the machine.
#include "tune/tuner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

namespace weft::test {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string text_of(const Settings& s) {
  std::string text;
  for (const auto& [name, value] : s) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

/// Answers as it is told, and writes down what it is asked.
class FakeTrials final : public Trials {
 public:
  std::function<double(const Settings&)> seconds = [](const Settings&) { return 1.0; };
  std::function<double(const Settings&)> part_seconds = seconds;
  std::function<std::string(const Settings&)> plan = [](const Settings& s) { return "plan " + text_of(s); };
  std::function<bool(const Settings&)> can = [](const Settings&) { return true; };
  std::vector<Dimension> dimensions;
  std::vector<Point> start;
  int calls_before_late = 1 << 30;

  std::vector<std::string> whole_asked, part_asked, found_text, timed_text;
  std::vector<std::size_t> whole_sizes;
  std::set<std::string> infeasible_asked;

  std::vector<double> whole(const std::vector<Settings>& candidates) override {
    std::vector<double> times;
    whole_sizes.push_back(candidates.size());
    for (const Settings& c : candidates) {
      whole_asked.push_back(text_of(c));
      times.push_back(seconds(c));
    }
    return times;
  }
  double part(const Settings& candidate) override {
    part_asked.push_back(text_of(candidate));
    return part_seconds(candidate);
  }
  std::string plan_of(const Settings& candidate) override { return plan(candidate); }
  std::vector<Dimension> parameters(const Settings&) override { return dimensions; }
  std::vector<Point> starts(const Settings&, const std::vector<Dimension>&) override { return start; }
  bool feasible(const Settings& candidate) override {
    if (!can(candidate)) infeasible_asked.insert(text_of(candidate));
    return can(candidate);
  }
  bool out_of_time() override { return calls_before_late-- <= 0; }
  void found(const MeasuredSettings& best, int) override { found_text.push_back(text_of(best.options)); }
  void timed(const Tuned& so_far) override {
    const Timed& last = so_far.timed.back();
    timed_text.push_back(std::string(name_of(last.round)) + " " + text_of(last.what.options));
  }
};

const Settings nothing_but_the_rule;

Index number(const Settings& s, const std::string& name) {
  return s.contains(name) ? std::stoll(s.at(name)) : -1;
}

/// A valley in the logarithm of the tile: 32 is best.
FakeTrials valley() {
  FakeTrials t;
  t.dimensions = {{"tile", log_values(1, 256)}, {"window", all_values(1, 4)}};
  t.start = {{256, 1}, {1, 4}};
  t.part_seconds = [](const Settings& s) {
    return 1 + std::abs(std::log2(static_cast<double>(number(s, "tile"))) - 5) +
           0.1 * std::abs(static_cast<double>(number(s, "window") - 3));
  };
  t.seconds = [part = t.part_seconds](const Settings& s) {
    return s.contains("tile") ? 10 + part(s) : 100.0;
  };
  return t;
}

}  // namespace

TEST(Tuner, TriesGroupsOnTopOfTheBestSoFar) {
  FakeTrials t;
  t.seconds = [](const Settings& s) {
    return 10.0 - (s.contains("exchange") && s.at("exchange") == "b" ? 3 : 0) -
           (s.contains("layout") ? 1 : 0);
  };
  TuneRequest request;
  request.groups = {{nothing_but_the_rule, {{"exchange", "a"}}, {{"exchange", "b"}}},
                    {{{"layout", "x"}}, {{"layout", "y"}}}};
  const Tuned tuned = tune(t, request);
  // Those that are nearly as good as the best one meet again.
  const std::string b = "exchange=b", x = b + " layout=x", y = b + " layout=y";
  EXPECT_EQ(t.whole_asked, (std::vector<std::string>{"", "exchange=a", b, x, y, x, y, b}));
  EXPECT_EQ(t.whole_sizes, (std::vector<std::size_t>{1, 1, 1, 1, 1, 3}));
  EXPECT_EQ(text_of(tuned.best.options), "exchange=b layout=x");
  EXPECT_EQ(tuned.best.seconds, 6);
  EXPECT_EQ(tuned.trials, 5);
  EXPECT_TRUE(tuned.finished);
  EXPECT_EQ(t.found_text, (std::vector<std::string>{"", b, x, x}));
  EXPECT_TRUE(tuned.history.empty());
  const std::string again = "play-off ", once = "candidate ";
  EXPECT_EQ(t.timed_text, (std::vector<std::string>{once, once + "exchange=a", once + b, once + x, once + y,
                                                    again + x, again + y, again + b}));
  ASSERT_EQ(tuned.timed.size(), 8u);
  EXPECT_EQ(tuned.timed[1].what.seconds, 10);
  EXPECT_EQ(tuned.timed[7].what.seconds, 7);
}

TEST(Tuner, TheSecondMeetingDecides) {
  FakeTrials t;
  int asked = 0;
  TuneRequest request;
  request.groups = {{nothing_but_the_rule, {{"exchange", "a"}}, {{"exchange", "b"}}}};
  t.seconds = [&](const Settings& s) { return (++asked <= 3) == s.contains("exchange") ? 1.1 : 1.0; };
  EXPECT_EQ(text_of(tune(t, request).best.options), "exchange=a");
  EXPECT_EQ(t.found_text, (std::vector<std::string>{"", "exchange=a"}));
}

TEST(Tuner, TimesNoPlanTwiceAndNoneThatCannotBeMade) {
  FakeTrials t;
  t.plan = [](const Settings& s) {
    if (!s.contains("exchange")) return std::string("that of a");
    return s.at("exchange") == "none" ? std::string() : "that of " + s.at("exchange");
  };
  TuneRequest request;
  request.groups = {
      {{}, {{"exchange", "none"}}, {{"exchange", "a"}}, {{"exchange", "b"}}, {{"exchange", "b"}}}};
  const Tuned tuned = tune(t, request);
  EXPECT_EQ(t.whole_asked, (std::vector<std::string>{"", "exchange=b", "", "exchange=b"}));
  EXPECT_EQ(tuned.trials, 2);
}

TEST(Tuner, WhatHasNoTimeIsNoTrialAndNeverTheBest) {
  FakeTrials t;
  t.seconds = [](const Settings& s) {
    if (!s.contains("exchange")) return infinity;
    return s.at("exchange") == "nan" ? std::nan("") : 2.0;
  };
  TuneRequest request;
  request.groups = {{nothing_but_the_rule, {{"exchange", "nan"}}, {{"exchange", "b"}}}};
  Tuned tuned = tune(t, request);
  EXPECT_EQ(text_of(tuned.best.options), "exchange=b");
  EXPECT_EQ(tuned.trials, 1);
  t.seconds = [](const Settings&) { return infinity; };
  tuned = tune(t, request);
  EXPECT_EQ(tuned.best.seconds, 0);
  EXPECT_EQ(tuned.trials, 0);
}

TEST(Tuner, LeavesHalfOfTheTrialsToParameters) {
  FakeTrials t = valley();
  TuneRequest request;
  request.groups.resize(1);
  for (int i = 0; i < 30; ++i) request.groups[0].push_back({{"exchange", std::to_string(i)}});
  request.trials = 10;
  EXPECT_EQ(tune(t, request).trials, 10);
  EXPECT_EQ(t.whole_sizes.size(), 11u);  // the last three against each other
  t = valley();
  request.parameters = true;
  const Tuned tuned = tune(t, request);
  EXPECT_EQ(tuned.trials, 10);
  EXPECT_EQ(tuned.history.size(), 5u);
  EXPECT_EQ(t.part_asked.size(), 5u);
  // No more than that, however few there are.
  for (const int trials : {0, 1, 2, 3}) {
    t = valley();
    request.trials = trials;
    EXPECT_EQ(tune(t, request).trials, trials) << trials;
  }
}

TEST(Tuner, FinalsDecide) {
  FakeTrials t = valley();
  TuneRequest request;
  request.groups = {{nothing_but_the_rule}};
  request.parameters = true;
  Tuned tuned = tune(t, request);
  EXPECT_EQ(text_of(tuned.best.options), "tile=32 window=3");
  EXPECT_EQ(tuned.best.seconds, 11);  // whole
  EXPECT_EQ(tuned.names, (std::vector<std::string>{"tile", "window"}));
  EXPECT_EQ(t.whole_sizes, (std::vector<std::size_t>{1, 4}));
  EXPECT_EQ(t.whole_asked[1], "");
  EXPECT_EQ(t.whole_asked[2], "tile=32 window=3");
  EXPECT_EQ(t.found_text.back(), "tile=32 window=3");
  EXPECT_LE(tuned.trials, 40);
  std::map<Round, std::size_t> timed;
  for (const Timed& each : tuned.timed) ++timed[each.round];
  EXPECT_EQ(timed, (std::map<Round, std::size_t>{
                       {Round::candidate, 1}, {Round::point, tuned.history.size()}, {Round::final, 4}}));
  std::set<Point> points;
  for (const Trial& trial : tuned.history) EXPECT_TRUE(points.insert(trial.point).second);
  // What was the best in part need not be whole, nor need anything be better than the rule.
  const auto part = t.part_seconds;
  t = valley();
  t.seconds = [part](const Settings& s) {
    return text_of(s) == "tile=32 window=3" ? std::nan("") : s.contains("tile") ? 10 + part(s) : 100.0;
  };
  tuned = tune(t, request);
  EXPECT_NE(text_of(tuned.best.options), "tile=32 window=3");
  EXPECT_NEAR(tuned.best.seconds, 11.1, 1e-9);
  t = valley();
  t.seconds = [](const Settings& s) { return s.contains("tile") ? 10.0 : 1.0; };
  tuned = tune(t, request);
  EXPECT_EQ(text_of(tuned.best.options), "");
  EXPECT_EQ(tuned.best.seconds, 1);
}

TEST(Tuner, PointsThatAreNotFeasibleCostNothing) {
  FakeTrials t = valley();
  t.can = [](const Settings& s) { return number(s, "tile") <= 8; };
  TuneRequest request;
  request.groups = {{nothing_but_the_rule}};
  request.parameters = true;
  Tuned tuned = tune(t, request);
  EXPECT_EQ(text_of(tuned.best.options), "tile=8 window=3");
  EXPECT_FALSE(t.infeasible_asked.empty());
  for (const Trial& trial : tuned.history) EXPECT_LE(trial.point[0], 8);
  EXPECT_EQ(tuned.trials, 1 + static_cast<int>(tuned.history.size()));
  // Nor do those that turn out to be only when they are planned.
  t = valley();
  t.part_seconds = [](const Settings&) { return infinity; };
  tuned = tune(t, request);
  EXPECT_EQ(text_of(tuned.best.options), "");
  EXPECT_EQ(tuned.trials, 1);
  EXPECT_TRUE(tuned.history.empty());
}

TEST(Tuner, EndsWhenTheTimeIsOut) {
  TuneRequest request;
  request.groups = {{nothing_but_the_rule, {{"exchange", "a"}}, {{"exchange", "b"}}}};
  request.parameters = true;
  for (int calls = 0; calls < 8; ++calls) {
    FakeTrials t = valley();
    t.calls_before_late = calls;
    const Tuned tuned = tune(t, request);
    EXPECT_FALSE(tuned.finished) << calls;
    EXPECT_GE(tuned.trials, 1);  // one at least
    EXPECT_LE(tuned.trials, calls + 2);
    EXPECT_GT(tuned.best.seconds, 0);
    EXPECT_FALSE(t.found_text.empty());
  }
}

TEST(Tuner, DrawsAtRandomIfAskedTo) {
  TuneRequest request;
  request.groups = {{nothing_but_the_rule}};
  request.parameters = request.random = true;
  request.trials = 12;
  FakeTrials a = valley(), b = valley(), c = valley();
  const Tuned one = tune(a, request);
  EXPECT_EQ(one.trials, 12);
  EXPECT_EQ(one.history.size(), 11u);
  tune(b, request);
  EXPECT_EQ(a.part_asked, b.part_asked);
  request.seed = 2;
  tune(c, request);
  EXPECT_NE(a.part_asked, c.part_asked);
}

TEST(Tuner, WritesAListWhereReshapesHaveValuesOfTheirOwn) {
  const std::vector<Dimension> d{{"fy", {-1, 2}}, {"tile.0", {8, 16}}, {"tile.1", {8, 16}}, {"window", {1}}};
  const Settings base{{"exchange", "a"}, {"tile", "1"}};
  EXPECT_EQ(text_of(with_parameters(base, d, {2, 16, 8, 1})), "exchange=a fy=2 tile=16,8 window=1");
  EXPECT_EQ(text_of(with_parameters(base, d, {-1, 8, 8, 1})), "exchange=a tile=8,8 window=1");
  // A list has no word for the rule.
  EXPECT_EQ(text_of(with_parameters({}, {{"tile.0", {-1, 8}}, {"tile.1", {8}}}, {-1, 8})), "");
}

}  // namespace weft::test
