// What a program is told of trials, and of the build.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <string>

#include "base/environment.hpp"
#include "fft/local_fft.hpp"
#include "support/scoped_variable.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

std::vector<TrialProgress> told_of;

/// Only rank 0 calls it.
void keep_progress(const TrialProgress& progress) {
  told_of.push_back(progress);
}

void plan_by_trials(int trials) {
  forget_wisdom();
  ThreadTeam team(2);
  team.run([&](const Comm& comm) {
    Problem p;
    p.shape = {8, 8, 8};
    Options options;
    options.set("effort", "patient").set("trials", trials).set("budget", "5");
    options.set("exchange", "copy").set("pipeline", "windowed");
    const Plan plan(comm, p, options);
  });
  forget_wisdom();
}

}  // namespace

TEST(TrialProgress, IsToldAfterEachTrialOnce) {
  told_of.clear();
  report_trials_to(keep_progress);
  plan_by_trials(6);
  report_trials_to(nullptr);
  ASSERT_GE(told_of.size(), 6u);
  double best_candidate = 0, left = 5;
  std::map<std::string, double> best_of_round;
  bool points = false;
  for (const TrialProgress& p : told_of) {
    EXPECT_EQ(p.most_trials, 6);
    EXPECT_GE(p.trial, 1);
    EXPECT_LE(p.trial, 6);
    EXPECT_LE(p.seconds_left, left);
    left = p.seconds_left;
    const auto known = best_of_round.find(p.round);
    const double best = known == best_of_round.end() ? p.seconds : std::min(known->second, p.seconds);
    EXPECT_EQ(p.best_seconds, best) << "another round's is no measure";
    best_of_round[p.round] = best;
    if (p.is_best) {
      EXPECT_EQ(p.best_options, p.options);
      EXPECT_EQ(p.best_seconds, p.seconds);
    }
    if (p.round == "point") {
      points = true;
    } else if (std::isfinite(p.seconds) && (best_candidate == 0 || p.best_seconds < best_candidate)) {
      best_candidate = p.best_seconds;
    }
  }
  EXPECT_TRUE(points);
  EXPECT_TRUE(told_of.front().options.empty()) << "the rules' choice comes first";
  EXPECT_TRUE(told_of.front().is_best);
  EXPECT_EQ(told_of.back().round, "final");
  EXPECT_GT(best_candidate, 0);
  told_of.clear();
  plan_by_trials(2);
  EXPECT_TRUE(told_of.empty()) << "nobody is told any more";
}

TEST(Information, HasTheTables) {
  const ScopedVariable variable("WEFT_BUDGET", "7");
  const std::vector<Variable> variables = environment_variables();
  ASSERT_EQ(variables.size(), environment_table().size());
  int set = 0;
  for (const Variable& v : variables) {
    EXPECT_FALSE(v.meaning.empty()) << v.name;
    if (v.name != "WEFT_BUDGET") continue;
    EXPECT_EQ(v.value, "7");
    ++set;
  }
  EXPECT_EQ(set, 1);
  const std::vector<FftLibrary> libraries = fft_libraries();
  ASSERT_EQ(libraries.size(), fft_table().size());
  for (const FftLibrary& l : libraries) EXPECT_NE(l.version.empty(), l.missing.empty()) << l.name;
  EXPECT_NE(gpu().name.empty(), gpu().missing.empty());
  EXPECT_NE(hardware().find(" cores, "), std::string::npos) << hardware();
}

}  // namespace weft::test
