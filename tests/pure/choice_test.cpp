// The choice of effort estimate on a described machine: predictions of candidates.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "api/candidate_designs.hpp"
#include "api/predicted_trials.hpp"
#include "support/described_machine.hpp"
#include "support/expect_error.hpp"
#include "tune/candidates_json.hpp"

namespace weft::test {

namespace {

/// A problem on ranks of a described machine.
struct Chooser {
  MachineDescription machine = described_machine();
  Problem problem;
  Options options;
  Setting setting;
  Wishes wishes;
  std::vector<int> devices = {};  ///< of every rank, which are threads then; empty: arrays on the host

  Chooser(const Shape& shape, int ranks, int per_node, const Options& of_user = {}, const Problem& like = {})
      : problem(like), options(of_user) {
    problem.shape = shape;
    set_ranks(ranks, per_node);
  }
  void set_ranks(int ranks, int per_node) {
    check_problem(problem, ranks);
    setting = described_setting(machine, nodes_of(ranks, per_node), !devices.empty(), devices);
    wishes = wishes_of(options);
  }
  void set_devices(const std::vector<int>& of_ranks) {
    machine = described_machine_with_device();
    problem.memory = MemoryKind::cuda;
    devices = of_ranks;
    set_ranks(static_cast<int>(devices.size()), static_cast<int>(devices.size()));
  }
  ChoiceRequest request() const { return {problem, options, wishes, setting, machine}; }
  ModelChoice choose() const { return choose_by_model(request()); }
  double seconds(const Settings& settings) const {
    return predict_both(request(), design(problem, wishes_of(options, settings, Origin::model), setting))
        .seconds();
  }
};

}  // namespace

TEST(Choice, IsTheCheapestOfItsCandidates) {
  for (const int ranks : {2, 3, 4}) {
    const Chooser of({48, 40, 36}, ranks, 1);
    const ModelChoice choice = of.choose();
    ASSERT_GT(choice.candidates.size(), 3U);
    EXPECT_EQ(choice.candidates.front().options, choice.options);
    const double best = of.seconds(choice.options);
    EXPECT_DOUBLE_EQ(choice.candidates.front().predicted_s, best);
    for (const Candidate& c : choice.candidates) {
      EXPECT_GT(c.predicted_s, 0);
      EXPECT_FALSE(c.summary.empty());
      EXPECT_FALSE(c.why.empty());
      // The rules' choice stays where nothing is faster by the tenth that is asked for between machines.
      EXPECT_LE(best, c.predicted_s / 0.9)
          << to_string(Explanation{"", choice.candidates, 0, 0, 0, {}, "", {}, {}});
    }
    EXPECT_TRUE(
        std::is_sorted(choice.candidates.begin() + 1, choice.candidates.end(),
                       [](const Candidate& a, const Candidate& b) { return a.predicted_s < b.predicted_s; }));
  }
}

TEST(Choice, IsTheSameEveryTime) {
  const Chooser of({40, 36, 50}, 16, 4);
  const ModelChoice a = of.choose(), b = of.choose();
  EXPECT_EQ(a.options, b.options);
  EXPECT_EQ(a.candidates, b.candidates);
}

/// An exchange that blocks hides nothing, and a machine where links take as long as FFTs shows it.
TEST(Choice, LeavesAPlanThatTheUserMakesSlow) {
  const Options blocking = Options().set("exchange", "alltoallv").set("pipeline", "sequential");
  const Chooser given({64, 64, 64}, 4, 1, blocking), open({64, 64, 64}, 4, 1);
  for (const Candidate& c : given.choose().candidates) {
    EXPECT_FALSE(c.options.contains("exchange"));
    EXPECT_FALSE(c.options.contains("pipeline"));
  }
  EXPECT_LT(open.choose().candidates.front().predicted_s, given.choose().candidates.front().predicted_s);
}

TEST(Choice, ShrinksWhereMessagesCostMoreThanTheyBring) {
  Chooser of({8, 8, 8}, 16, 1, Options().set("shrink", "auto"));
  of.problem.input = of.problem.output = Distribution::brick();  // four exchanges, or two with one rank
  of.set_ranks(16, 1);
  const ModelChoice choice = of.choose();
  ASSERT_TRUE(choice.options.contains("shrink")) << choice.text;
  EXPECT_EQ(choice.options.at("shrink"), "1");
  // All ranks, unless the user lets fewer compute.
  of.options = {};
  of.set_ranks(16, 1);
  EXPECT_FALSE(of.choose().options.contains("shrink"));
}

TEST(Choice, CodesWithinTheToleranceWhereThatIsFaster) {
  const Chooser far({64, 64, 64}, 4, 1, Options().set("tolerance", "1e-4"));
  for (const Candidate& c : far.choose().candidates)
    if (const auto codec = c.options.find("codec"); codec != c.options.end()) {
      const Design d = design(far.problem, wishes_of(far.options, c.options, Origin::model), far.setting);
      EXPECT_LE(codec_error(d, Direction::forward), 1e-4) << codec->second;
    }
  // Encoding that takes longer than the bytes do is not worth it.
  Chooser slow({64, 64, 64}, 4, 1, Options().set("tolerance", "1e-4"));
  for (CodecSpeed& c : slow.machine.processor.codecs) c.encode_bytes_per_s = c.decode_bytes_per_s = 1e6;
  const ModelChoice choice = slow.choose();
  ASSERT_TRUE(choice.options.contains("codec")) << choice.text;
  EXPECT_EQ(choice.options.at("codec"), "none");
}

TEST(Choice, LeavesExactWhatStaysOnOneMachine) {
  const Chooser near({64, 64, 64}, 4, 4, Options().set("tolerance", "1e-4"));
  for (const Candidate& c : near.choose().candidates) EXPECT_FALSE(c.options.contains("codec"));
}

TEST(Choice, IsNotAnotherPlanBecauseTheRulesOneCannotBePredicted) {
  Chooser of({16, 16, 16}, 4, 4);
  of.machine.links.erase(of.machine.links.begin() + 1);  // stores, which exchange direct needs
  expect_error([&] { of.choose(); }, "stores within a machine");
}

TEST(Choice, AdvisesWhatThePredictionShows) {
  Chooser of({64, 64, 64}, 4, 1);
  for (LinkDescription& l : of.machine.links) l.bytes_per_s = Curve({{64, 2e7}});
  const ModelChoice choice = of.choose();
  const std::vector<std::string> advice =
      advice_for(of.request(), choice.options, of.seconds(choice.options));
  ASSERT_FALSE(advice.empty());
  EXPECT_TRUE(std::any_of(advice.begin(), advice.end(), [](const std::string& a) {
    return a.find("option tolerance: predicted ") != std::string::npos;
  }));
}

TEST(Choice, SaysWhatTheMachineLacks) {
  Chooser of({16, 16, 16}, 4, 1);
  of.machine.links.erase(of.machine.links.begin() + 2);
  expect_error([&] { of.choose(); }, "between machines");
}

TEST(Choice, WorksForRandomProblems) {
  std::mt19937_64 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
  for (int i = 0; i < 60; ++i) {
    const auto length = [&] { return Index{4} + below(28); };
    const int ranks = 2 + below(11), per_node = 1 + below(4);
    Problem problem;
    if (below(2) == 0) problem.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
    Chooser of({length(), length(), length()}, ranks, per_node, {}, problem);
    if (below(2) == 0) of.problem.input = Distribution::brick();
    if (below(2) == 0) of.problem.output = Distribution::pencil(below(3));
    of.set_ranks(ranks, per_node);
    ModelChoice choice;
    ASSERT_NO_THROW(choice = of.choose()) << ranks << " ranks, " << per_node << " on a machine";
    EXPECT_LT(of.seconds(choice.options), 1.2 * of.seconds({})) << choice.text;
  }
}

TEST(Choice, OfArraysInMemoryOfDevicesIsPredicted) {
  const std::vector<std::vector<int>> own_shared_many{
      {0, 1}, {0, 0}, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 0, 1, 1, 2, 2}};
  for (const std::vector<int>& devices : own_shared_many) {
    Chooser of({48, 40, 36}, static_cast<int>(devices.size()), static_cast<int>(devices.size()));
    of.problem.input = of.problem.output = Distribution::brick();
    of.set_devices(devices);
    const ModelChoice choice = of.choose();
    ASSERT_GT(choice.candidates.size(), 2U);
    const double best = of.seconds(choice.options);
    // Of eight one stands for all.
    EXPECT_NEAR(choice.candidates.front().predicted_s, best, 0.02 * best);
    EXPECT_LE(best, 1.02 * of.seconds({}));
  }
}

/// The rules' choice copies with engines. Where these are slow, kernels store.
/// With a length that no FFT puts, so that the rule leaves it to engines.
TEST(Choice, OfDevicesFollowsTheirLinks) {
  Chooser of({506, 256, 256}, 2, 2, Options().set("pipeline", "sequential"));
  of.set_devices({0, 1});
  for (LinkDescription& l : of.machine.links)
    if (l.between == over_peer) l.bytes_per_s = Curve({{64, l.carries == by_engines ? 1e6 : 1e9}});
  const ModelChoice choice = of.choose();
  EXPECT_EQ(choice.options.at("puts"), "kernel") << choice.text;
}

TEST(Choice, OfDevicesNeedsTheirDescription) {
  Chooser of({16, 16, 16}, 2, 2);
  of.set_devices({0, 1});
  of.machine.device.reset();
  expect_error([&] { of.choose(); }, "without the section \"device\"");
}

/// One rank stands for all, also where it stores into some and sends to others: many ranks cost no more, and
/// leave room for other plans.
TEST(Choice, LooksAtManyPlansOfManyRanks) {
  for (const int per_node : {1, 4, 6}) {
    Chooser of({64, 64, 64}, 1024, per_node);
    of.problem.input = of.problem.output = Distribution::brick();
    of.set_ranks(1024, per_node);
    const ModelChoice choice = of.choose();
    EXPECT_GT(choice.candidates.size(), 6U) << choice.text;
    EXPECT_TRUE(std::all_of(choice.candidates.begin(), choice.candidates.end(),
                            [](const Candidate& c) { return c.predicted_s > 0; }));
  }
}

TEST(Choice, CandidatesGoThroughJson) {
  const std::vector<Candidate> all{{{{"tile", "4"}}, "slab", 0.5, 0.25, "why"}, {{}, "", 0, 0, ""}};
  EXPECT_EQ(candidates_of_json(json_of_candidates(all)), all);
}

}  // namespace weft::test
