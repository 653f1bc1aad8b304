// The model of exchanges that go in rounds: hand-made programs whose times are counted by hand, and what
// holds for plans.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "model/rank_classes.hpp"
#include "support/described_machine.hpp"
#include "support/expect_error.hpp"

namespace weft::test {

namespace {

constexpr double ms = 1e-3;

/// What ranks send in one tile, in an exchange that goes in rounds or in another one that blocks; what a rank
/// does before takes so many milliseconds.
struct Exchanged {
  int ranks;
  std::map<std::pair<int, int>, double> units;  ///< of 10 ms on the network, by sender and receiver
  std::map<int, double> late_ms = {};           ///< by rank
  bool in_rounds = true;
  std::vector<int> groups = {};  ///< empty: all ranks are one
  Index padded = 0;              ///< bytes of every part
  int per_node = 1;              ///< ranks of a machine
  Index burst_bytes = 0;         ///< what a link that has rested carries at once
};

/// The described network carries 100 MB/s.
constexpr double unit_bytes = 1e6, unit = 10 * ms;

Program program_of(const Exchanged& e, int rank) {
  Program p;
  p.rank = rank;
  p.ranks = e.ranks;
  Leg leg;
  leg.exchange = "made";
  leg.traits.blocks = true;
  leg.traits.in_rounds = e.in_rounds;
  TileMessages tile;
  tile.padded_bytes = e.padded;
  tile.padded_parts = e.padded > 0 ? e.ranks : 0;
  for (const auto& [pair, units] : e.units) {
    const auto bytes = static_cast<Index>(units * unit_bytes);
    if (pair.first == rank) tile.sends.push_back({pair.second, 0, bytes});
    if (pair.second == rank) tile.receives.push_back({pair.first, 0, bytes});
  }
  p.reshapes.push_back({leg, {16, {tile}, 1}, {16, {}, 1}});
  if (const auto late = e.late_ms.find(rank); late != e.late_ms.end()) {
    CopyCall call;  // 1e6 bytes, read and written, in 1 ms
    call.element_bytes = 8;
    call.from = {Space::input, 0, {1}};
    call.to = {Space::output, 0, {1}};
    call.box = {{0}, {static_cast<Index>(late->second * 1e6 / 16)}};
    p.copies.push_back(call);
    p.ops.push_back({.kind = OpKind::copy, .call = 0});
  }
  p.ops.push_back({.kind = OpKind::post, .reshape = 0});
  p.ops.push_back({.kind = OpKind::receive, .reshape = 0});
  return p;
}

/// Parts between machines have a latency of `latency_s`, and but for the links nothing takes time.
Replayed replayed(const Exchanged& e, double latency_s = 0, std::vector<int> like = {}) {
  MachineDescription machine = described_machine();
  machine.processor.operation_s = 0;
  for (LinkDescription& l : machine.links) l.part_s = 0;
  machine.links[2].latency_s = latency_s;
  machine.links[2].burst_bytes = e.burst_bytes;
  ReplayRequest request{machine,
                        nodes_of(e.ranks, e.per_node),
                        [&](int rank) { return program_of(e, rank); },
                        {},
                        std::move(like)};
  request.groups_of = [&](int) {
    return e.groups.empty() ? std::vector<int>(static_cast<std::size_t>(e.ranks), 0) : e.groups;
  };
  return replay_timed(request);
}

double end_of(const Replayed& r, int rank) {
  return r.ranks[static_cast<std::size_t>(rank)].end_s;
}

/// Four ranks in a chain of rounds: 0 to 1 in the first one, 1 to 3 in the second, 3 to 2 in the third.
const Exchanged chain{4, {{{0, 1}, 5}, {{1, 3}, 1}, {{3, 2}, 5}}};

}  // namespace

TEST(Rounds, OfOneRankHoldUpThoseOfOthers) {
  const Replayed r = replayed(chain, 1 * ms);
  EXPECT_NEAR(end_of(r, 0), 5 * unit + 1 * ms, 1e-9);
  EXPECT_NEAR(end_of(r, 1), 6 * unit + 2 * ms, 1e-9);
  EXPECT_NEAR(end_of(r, 2), 11 * unit + 3 * ms, 1e-9);
  EXPECT_NEAR(end_of(r, 3), 11 * unit + 3 * ms, 1e-9);
  // No rank has more than six units to carry, and without rounds nothing holds them up.
  Exchanged at_once = chain;
  at_once.in_rounds = false;
  EXPECT_LT(replayed(at_once, 1 * ms).seconds, 7 * unit);
}

/// A rank sends and receives at the same time, and the slower of both ends the round.
TEST(Rounds, OfUnevenPartsTakeAsLongAsTheLargest) {
  const Replayed r = replayed({3, {{{0, 1}, 3}, {{1, 2}, 1}, {{0, 2}, 1}, {{1, 0}, 2}}});
  EXPECT_NEAR(end_of(r, 0), 5 * unit, 1e-9);  // 3 to rank 1, then 2 from it
  EXPECT_NEAR(end_of(r, 1), 5 * unit, 1e-9);
  EXPECT_NEAR(end_of(r, 2), 4 * unit, 1e-9);  // waits for rank 0
  const Replayed even =
      replayed({3, {{{0, 1}, 1}, {{1, 2}, 1}, {{2, 0}, 1}, {{0, 2}, 2}, {{1, 0}, 2}, {{2, 1}, 2}}});
  for (int rank = 0; rank < 3; ++rank) EXPECT_NEAR(end_of(even, rank), 3 * unit, 1e-9);
}

TEST(Rounds, BeginWhenBothRanksAreThere) {
  Exchanged late = chain;
  late.late_ms = {{1, 30}};
  const Replayed r = replayed(late);
  EXPECT_NEAR(end_of(r, 0), 3 * unit + 5 * unit, 1e-6);
  EXPECT_NEAR(end_of(r, 2), 3 * unit + 11 * unit, 1e-6);
  // What rank 2 hangs on is what rank 1 did before its rounds.
  const PredictedOperation& post = r.ranks[2].operations.front();
  EXPECT_EQ(post.cause_rank, 1);
  EXPECT_EQ(post.cause, 0);
}

/// Members count, not ranks: of 0, 2, 3 and 5 each is one place behind the one before it.
TEST(Rounds, GoThroughTheMembersOfAGroup) {
  Exchanged e{6, {{{0, 2}, 3}, {{2, 3}, 3}}};
  e.groups = {0, 1, 0, 0, 1, 0};
  const Replayed r = replayed(e);
  for (const int rank : {0, 2, 3}) EXPECT_NEAR(end_of(r, rank), 3 * unit, 1e-9) << rank;
  e.groups.assign(6, 0);
  EXPECT_NEAR(end_of(replayed(e), 2), 6 * unit, 1e-9);
}

/// Within a machine the receiver copies, and the sender waits for it.
TEST(Rounds, WithinAMachineTakeTheReceiversTime) {
  Exchanged e{4, {{{0, 1}, 1}, {{1, 2}, 1}}};
  e.per_node = 2;
  const MachineDescription machine = described_machine();
  const LinkDescription& node = *find_link(machine, over_node, by_messages);
  const double copied = node.latency_s + unit_bytes / node.bytes_per_s.at(unit_bytes);
  const Replayed r = replayed(e, 1 * ms);
  EXPECT_NEAR(end_of(r, 0), copied, 1e-9);
  EXPECT_NEAR(end_of(r, 1), 2 * unit + 1 * ms, 1e-9);  // with half of its machine's network
  EXPECT_NEAR(end_of(r, 2), 2 * unit + 1 * ms, 1e-9);
  e.units = {{{0, 1}, 1}, {{0, 2}, 1}};
  EXPECT_NEAR(end_of(replayed(e, 1 * ms), 0), copied + 2 * unit + 1 * ms, 1e-9);
}

/// A link saves up a burst before the rounds, and while its rank waits for another one, but not in between.
TEST(Rounds, ThatFollowEachOtherLeaveLinksNoRest) {
  Exchanged e{3, {{{0, 1}, 1}, {{0, 2}, 1}}, {{0, 10}, {1, 10}, {2, 10}}};
  e.burst_bytes = static_cast<Index>(unit_bytes / 10);
  EXPECT_NEAR(end_of(replayed(e, 5 * ms), 0), 10 * ms + 1.9 * unit + 2 * 5 * ms, 1e-6);
  e.late_ms[2] = 40;
  EXPECT_NEAR(end_of(replayed(e, 5 * ms), 0), 40 * ms + 0.9 * unit + 5 * ms, 1e-6);
}

TEST(Rounds, OfPaddedPartsAreThoseOfAllMembers) {
  Exchanged e{4, {{{0, 1}, 1}}};
  e.padded = static_cast<Index>(unit_bytes);
  const Replayed r = replayed(e, 1 * ms);
  for (int rank = 0; rank < 4; ++rank) EXPECT_NEAR(end_of(r, rank), 3 * (unit + 1 * ms), 1e-9);
}

/// A rank that stands for others comes to each round when they do, so that it waits for nobody for ever; it
/// does not see that others are late.
TEST(Rounds, OfOneRankForAllAreItsOwn) {
  for (int rank = 0; rank < 4; ++rank) {
    const Replayed one = replayed(chain, 1 * ms, std::vector<int>(4, rank));
    const std::vector<double> units{5, 6, 5, 6}, parts{1, 2, 1, 2};
    const auto r = static_cast<std::size_t>(rank);
    EXPECT_NEAR(one.seconds, units[r] * unit + parts[r] * ms, 1e-9) << rank;
  }
}

TEST(Rounds, NeedTheGroups) {
  const MachineDescription machine = described_machine();
  const ReplayRequest request{machine, nodes_of(4, 1), [](int rank) { return program_of(chain, rank); }, {}};
  expect_error([&] { replay_timed(request); }, "exchange made without exchange groups");
}

namespace {

DescribedPlan plan_in_rounds(int ranks, const Distribution& input, const char* decomposition) {
  DescribedPlan plan;
  plan.ranks = ranks;
  plan.input = input;
  plan.output = Distribution::slab(0);
  plan.options.set("exchange", "pairwise").set("pipeline", "sequential").set("decomposition", decomposition);
  return plan;
}

}  // namespace

/// Bricks and slabs have rounds in which a rank only sends and others in which it only receives, of each rank
/// others. Slabs have the same ones on all ranks.
TEST(Rounds, MakeRanksUnlike) {
  const MachineDescription machine = described_machine();
  for (const int per_node : {1, 4}) {
    DescribedPlan plan = plan_in_rounds(64, Distribution::brick(), "slab");
    plan.per_node = per_node;
    const double all = plan.seconds_on(machine);
    plan.replayed = ReplayedRanks::classes;
    EXPECT_NEAR(plan.seconds_on(machine), all, 0.02 * all) << per_node;
    plan.options.set("exchange", "alltoallv");
    EXPECT_LE(plan.on(machine).replayed.ranks.size(), 4u) << per_node;
  }
  DescribedPlan slabs = plan_in_rounds(64, Distribution::slab(1), "slab");
  const double all = slabs.seconds_on(machine);
  slabs.replayed = ReplayedRanks::classes;
  const PlanPrediction some = slabs.on(machine);
  EXPECT_EQ(some.replayed.ranks.size(), 1u);
  EXPECT_NEAR(some.prediction.seconds, all, 1e-3 * all);
}

/// With more parts than are replayed, ranks of equal boxes are alike again.
TEST(Rounds, OfVeryManyPartsMakeNoRanksUnlike) {
  const MachineDescription machine = described_machine();
  const auto classes_of = [&](int ranks) {
    DescribedPlan plan = plan_in_rounds(ranks, Distribution::brick(), "slab");
    plan.shape = {2048, 2048, 2048};
    const std::vector<int> like =
        like_ranks(plan.design_on(machine).schedule(Direction::forward), plan.nodes(), {0});
    return std::set<int>(like.begin(), like.end()).size();
  };
  EXPECT_GT(classes_of(64), 32u);
  EXPECT_LE(classes_of(2048), 2u);
}

TEST(Rounds, HaveACriticalPathThatAddsUp) {
  const MachineDescription machine = described_machine();
  for (const char* exchange : {"pairwise", "alltoall"})
    for (const char* pipeline : {"sequential", "windowed"})
      for (const int per_node : {1, 2}) {
        DescribedPlan plan = plan_in_rounds(4, Distribution::slab(1), "slab");
        plan.per_node = per_node;
        plan.options.set("exchange", exchange).set("pipeline", pipeline);
        const Prediction p = plan.on(machine).prediction;
        double sum = 0, spent = 0;
        for (const auto& [activity, seconds] : p.critical) sum += seconds;
        for (const auto& [activity, seconds] : p.activities) spent += seconds;
        EXPECT_NEAR(sum, p.seconds, 1e-3 * p.seconds) << exchange << ", " << pipeline << ", " << per_node;
        EXPECT_NEAR(spent, p.seconds, 1e-3 * p.seconds) << exchange << ", " << pipeline << ", " << per_node;
        EXPECT_GE(p.seconds, 0.999 * p.bound_s()) << exchange << ", " << pipeline << ", " << per_node;
      }
}

}  // namespace weft::test
