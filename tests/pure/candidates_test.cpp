// What trials, and executions of the user's, choose among.
#include "api/candidate_designs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "support/made_settings.hpp"

namespace weft::test {

namespace {

/// How often each value of an option is a candidate of its own.
std::map<std::string, int> values_tried(const Options& options, const Setting& setting,
                                        const std::string& option) {
  std::map<std::string, int> values;
  for (const std::vector<Settings>& group : candidates(wishes_of(options), setting))
    for (const Settings& s : group)
      if (const auto found = s.find(option); found != s.end()) ++values[found->second];
  return values;
}

}  // namespace

TEST(Candidates, AreWhatServesDevices) {
  using Tried = std::map<std::string, int>;
  Setting setting = gpus(2, 2);
  EXPECT_EQ(values_tried({}, setting, "exchange"),
            (Tried{{"direct", 1}, {"nccl", 1}, {"p2p", 1}, {"alltoallv", 1}, {"alltoall", 1}}));
  EXPECT_EQ(values_tried({}, setting, "pipeline"),
            (Tried{{"planes", 1}, {"sequential", 1}, {"shared", 1}, {"two-front", 1}, {"windowed", 1}}));
  EXPECT_TRUE(values_tried(Options().set("exchange", "direct"), setting, "exchange").empty());
  // The rule's choice is the first, and what goes through the host the last.
  const auto groups = candidates(wishes_of({}), setting);
  EXPECT_TRUE(groups.at(0).at(0).empty());
  EXPECT_EQ(groups.back().front(), (Settings{{"exchange", "p2p"}}));
  // Unless there is no other way.
  for (Offer& offer : setting.offers)
    if (offer.traits.stores || offer.traits.by_device) offer.why_not = " here";
  EXPECT_EQ(candidates(wishes_of({}), setting).at(0).at(1), (Settings{{"exchange", "p2p"}}));
}

namespace {

/// Four machines, with exchange ucx, of which so many rails are open.
Setting with_rails(int rails) {
  Setting setting = processes(4, 1);
  setting.offers.push_back(
      {"ucx", {.any_length = true, .queues = true, .by_name_only = true, .on_rails = true}, ""});
  setting.offers.back().rails = rails;
  return setting;
}

bool tries(const std::vector<std::vector<Settings>>& groups, const Settings& candidate) {
  return std::ranges::any_of(
      groups, [&](const auto& group) { return std::ranges::find(group, candidate) != group.end(); });
}

std::map<std::string, Index> starts_of(const Options& options, const Settings& candidate) {
  Problem problem = bricks_of_cube(64);
  check_problem(problem, 4);
  const Wishes wishes = wishes_of(options);
  CandidateDesigns designs(problem, options, wishes, with_rails(2), Origin::trial);
  const std::vector<Dimension> dimensions = designs.parameters(candidate);
  const Point start = designs.starts(candidate).front();
  std::map<std::string, Index> starts;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    EXPECT_TRUE(std::ranges::is_sorted(dimensions[i].values)) << dimensions[i].name;
    starts[dimensions[i].name] = start[i];
  }
  return starts;
}

}  // namespace

TEST(Candidates, OfExecutionsAreOverSeveralNetworksOnlyIfTheseAreOpen) {
  const Settings ucx{{"exchange", "ucx"}};
  for (const int rails : {0, 1, 2})
    EXPECT_EQ(tries(online_candidates({}, false, wishes_of({}), with_rails(rails)), ucx), rails > 1) << rails;
  EXPECT_TRUE(tries(candidates(wishes_of({}), with_rails(0)), ucx)) << "trials may wait for a network";
  EXPECT_FALSE(
      tries(online_candidates({}, false, wishes_of(Options().set("exchange", "p2p")), with_rails(2)), ucx));
}

TEST(Candidates, OverRailsHaveTheirParameters) {
  const Settings ucx{{"exchange", "ucx"}};
  std::map<std::string, Index> starts = starts_of({}, ucx);
  EXPECT_EQ(starts.at("chunk"), RailSettings().chunk);
  EXPECT_EQ(starts.at("inflight"), RailSettings().in_flight);
  starts = starts_of(Options().set("chunk", "64KiB").set("inflight", "3"), ucx);
  EXPECT_FALSE(starts.contains("chunk") || starts.contains("inflight")) << "the user has chosen";
  EXPECT_FALSE(starts_of({}, {{"exchange", "p2p"}}).contains("chunk"));
  // What differs in them alone is another plan.
  Problem problem = bricks_of_cube(64);
  check_problem(problem, 4);
  const Options options;
  const Wishes wishes = wishes_of(options);
  CandidateDesigns designs(problem, options, wishes, with_rails(2), Origin::trial);
  const std::string by_rule = designs.plan_of(ucx);
  EXPECT_EQ(designs.plan_of({{"exchange", "ucx"}, {"chunk", "524288"}}), by_rule);
  EXPECT_NE(designs.plan_of({{"exchange", "ucx"}, {"chunk", "65536"}}), by_rule);
  EXPECT_NE(designs.plan_of({{"exchange", "ucx"}, {"inflight", "2"}}), by_rule);
  EXPECT_EQ(designs.of({{"exchange", "ucx"}, {"inflight", "2"}})->rails_chosen, "inflight 2 (trial)");
}

}  // namespace weft::test
