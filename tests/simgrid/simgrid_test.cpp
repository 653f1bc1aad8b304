// What the model predicts of exchanges, beside SimGrid's simulation of the same messages on a fat tree of
// machines with the described latency and bandwidth. Both are told how long ranks compute; the network is the
// model's own and SimGrid's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "simgrid/simulation.hpp"
#include "support/described_machine.hpp"

namespace weft::test {

namespace {

/// Of 12.5 GB/s and 0.5 us for each link. Where all machines send as much to all others, no link of these
/// trees carries more than that of a machine.
const FatTree of_2{"of2", {2}, {1}}, of_15{"of15", {5, 3}, {1, 5}}, of_16{"of16", {4, 4}, {1, 4}},
    of_27{"of27", {3, 3, 3}, {1, 3, 3}}, of_64{"of64", {8, 8}, {1, 8}},
    of_64_high{"of64high", {4, 4, 4}, {1, 4, 4}}, of_128{"of128", {8, 16}, {1, 8}};

/// The tree as the model describes it: a link for each machine, and the longest route's latency. What ranks
/// compute takes no time, but `point_s` for a point and an axis.
MachineDescription machine_of(const FatTree& tree, double point_s, double part_s) {
  MachineDescription m = described_machine();
  ProcessorDescription& p = m.processor;
  p.operation_s = 0;
  p.copy_alone = p.copy_together = Curve({{1, 1e15}});
  for (FftSpeed& f : p.ffts) f.in_cache_s = f.in_memory_s = std::max(point_s, 1e-18);
  for (LinkDescription& l : m.links) {
    const bool network = l.between == "network";
    l.latency_s = network ? tree.latency_s() : 0;
    l.part_s = network ? part_s : 0;
    if (l.carries == "messages") l.bytes_per_s = Curve({{1, network ? tree.bytes_per_s : 1e15}});
    l.node_bytes_per_s = network ? tree.bytes_per_s : 0;
    l.busy_share = 0;
  }
  return m;
}

struct Comparison {
  std::string name;
  FatTree tree;
  DescribedPlan plan;
  double point_s = 0;  ///< what a rank computes for a point and an axis
  double part_s = 0;   ///< what its processor does for a part, at either end
  Parts parts = Parts::share;
  bool early_rounds = false;
};

/// Predicted over simulated time. Prints both, as a row of the table in docs/model.md.
double compare(const Comparison& c) {
  const MachineDescription machine = machine_of(c.tree, c.point_s, c.part_s);
  const Design design = c.plan.design_on(machine);
  const Direction direction = c.plan.direction;
  ReplayRequest replay{
      machine, c.plan.nodes(), [&](int rank) { return program_of(design, direction, rank); }, {}};
  replay.groups_of = [&](int reshape) { return exchange_groups(design.schedule(direction), reshape); };
  const double predicted = replay_timed(replay).seconds;
  const double simulated = simulated_seconds({c.tree, replay, c.parts, c.early_rounds});
  std::printf("| %d | %s | %.2f | %.2f | %.2f |\n", c.tree.machines(), c.name.c_str(), 1e6 * predicted,
              1e6 * simulated, predicted / simulated);
  return predicted / simulated;
}

DescribedPlan plan_on(const FatTree& tree, const char* exchange = "p2p",
                      const char* pipeline = "sequential") {
  DescribedPlan plan;
  plan.shape = {512, 512, 512};
  plan.ranks = tree.machines();
  plan.options.set("exchange", exchange).set("pipeline", pipeline);
  return plan;
}

DescribedPlan pencils(DescribedPlan plan) {
  plan.input = Distribution::pencil(2);
  plan.output = Distribution::pencil(0);
  plan.options.set("decomposition", "pencil");
  return plan;
}

DescribedPlan bricks_to_slabs(DescribedPlan plan) {
  plan.input = Distribution::brick();
  plan.output = Distribution::slab(0);
  plan.options.set("decomposition", "slab");
  return plan;
}

DescribedPlan with_shape(DescribedPlan plan, const Shape& shape) {
  plan.shape = shape;
  return plan;
}

DescribedPlan with_ranks(DescribedPlan plan, int per_node) {
  plan.per_node = per_node;
  plan.ranks *= per_node;
  return plan;
}

/// What a point takes if the local FFTs of a transform along three axes take about as long as one exchange of
/// all of its points.
constexpr double balanced_point_s = 16 / 12.5e9 / 3;

/// The same machines with the same latency between any two.
FatTree one_switch(const FatTree& tree) {
  FatTree flat = tree;
  flat.down = {static_cast<unsigned>(tree.machines())};
  flat.up = {1};
  flat.hop_s = tree.latency_s() / 2;
  return flat;
}

/// What a processor does for a small message.
constexpr double busy_part_s = 0.2e-6;

void expect_agreement(const Comparison& c, double tolerance = 0.05) {
  EXPECT_NEAR(compare(c), 1, tolerance) << c.tree.machines() << " machines, " << c.name;
}

}  // namespace

TEST(SimGrid, IsToldOfTheDescribedMachine) {
  expect_agreement({"512^3, slabs", of_2, plan_on(of_2)}, 0.001);
  expect_agreement({"2x2x2, slabs", of_2, with_shape(plan_on(of_2), {2, 2, 2})}, 0.01);
}

TEST(SimGrid, AgreesWhereAllRanksOfAGroupSendToAll) {
  for (const FatTree& tree : {of_15, of_16, of_27, of_64, of_64_high, of_128}) {
    expect_agreement({"512^3, slabs", tree, plan_on(tree)});
    expect_agreement({"512^3, pencils", tree, pencils(plan_on(tree))});
    expect_agreement({"512^3, slabs, pairwise", tree, plan_on(tree, "pairwise")});
    expect_agreement({"512^3, pencils, pairwise", tree, pencils(plan_on(tree, "pairwise"))});
  }
  expect_agreement({"512^3, slabs, 4 ranks of a machine", of_16, with_ranks(plan_on(of_16), 4)});
  expect_agreement({"512^3, pencils, 4 ranks of a machine", of_16, with_ranks(pencils(plan_on(of_16)), 4)});
}

/// Here several ranks send to the same few. Neighbours get more of a full link than what comes from afar, so
/// that links rest in the end: not with one switch. Of uneven parts some flows wait for links elsewhere.
TEST(SimGrid, AgreesOnBricksThatBecomeSlabs) {
  for (const FatTree& tree : {of_16, of_27, of_128})
    expect_agreement({"512^3, bricks to slabs", tree, bricks_to_slabs(plan_on(tree))});
  expect_agreement({"512^3, bricks to slabs, one switch", one_switch(of_16), bricks_to_slabs(plan_on(of_16))},
                   0.01);
  const Shape odd{510, 500, 490};
  for (const FatTree& tree : {one_switch(of_16), one_switch(of_64)})
    expect_agreement(
        {"510x500x490, bricks to slabs, one switch", tree, with_shape(bricks_to_slabs(plan_on(tree)), odd)},
        0.1);
  for (const FatTree& tree : {of_16, of_27, of_64})
    expect_agreement({"510x500x490, bricks to slabs", tree, with_shape(bricks_to_slabs(plan_on(tree)), odd)},
                     0.15);
}

/// Latencies and what processors do. Neighbours are nearer than the longest route, which is the model's
/// latency. Parts that share a link arrive together, so that a processor cannot take one while the next one
/// travels; and in rounds the sender's processor, the link and the receiver's follow each other. With one
/// switch, and without a processor's time, none of this is so.
TEST(SimGrid, AgreesOnSmallMessages) {
  const Shape small{64, 64, 64};
  for (const FatTree& tree : {of_16, of_64, of_128}) {
    const Shape least{tree.machines(), tree.machines(), 4};
    for (const char* exchange : {"p2p", "pairwise"}) {
      const DescribedPlan slabs = with_shape(plan_on(tree, exchange), least);
      const DescribedPlan cube = with_shape(pencils(plan_on(tree, exchange)), small);
      const auto named = [&](const char* what) { return std::string(what) + ", " + exchange; };
      expect_agreement({named("64 bytes to each, parts take 0.2 us"), tree, slabs, 0, busy_part_s});
      const FatTree flat = one_switch(tree);
      expect_agreement({named("64^3, pencils, parts take 0.2 us"), tree, cube, 0, busy_part_s}, 0.25);
      expect_agreement({named("64^3, pencils, parts take 0.2 us, one switch"), flat, cube, 0, busy_part_s},
                       0.25);
      expect_agreement({named("64^3, pencils"), tree, cube}, 0.25);
      expect_agreement({named("64^3, pencils, one switch"), flat, cube}, 0.02);
    }
  }
}

/// Tiles of two-front share links with those after them, and are there later than the model says, which lets
/// them go one after the other. Parts that follow each other have a latency each.
TEST(SimGrid, AgreesOnPipelines) {
  expect_agreement({"512^3, slabs, windowed", of_16, plan_on(of_16, "p2p", "windowed"), balanced_point_s});
  for (const FatTree& tree : {of_64, of_128})
    expect_agreement(
        {"512^3, pencils, windowed", tree, pencils(plan_on(tree, "p2p", "windowed")), balanced_point_s});
  const DescribedPlan two_front = with_shape(pencils(plan_on(of_16, "p2p", "two-front")), {256, 256, 256});
  Comparison c{"256^3, pencils, two-front", of_16, two_front, balanced_point_s};
  expect_agreement(c, 0.15);
  c.name += ", parts follow each other";
  c.parts = Parts::follow;
  expect_agreement(c, 0.04);
}

/// Bricks and slabs have rounds in which a rank only sends, and others in which it only receives, so that
/// ranks wait for each other. What goes through the upper links of a tree at the same time, in rounds that do
/// not line up, need not fit them: not so with one switch.
TEST(SimGrid, AgreesOnRoundsThatDoNotLineUp) {
  const Shape odd{510, 500, 490};
  for (const FatTree& tree : {of_16, of_27, of_64, of_64_high}) {
    const DescribedPlan plan = bricks_to_slabs(plan_on(tree, "pairwise"));
    const FatTree flat = one_switch(tree);
    expect_agreement({"512^3, bricks to slabs, pairwise", tree, plan}, 0.25);
    expect_agreement({"512^3, bricks to slabs, pairwise, one switch", flat, plan}, 0.01);
    expect_agreement({"510x500x490, bricks to slabs, pairwise", tree, with_shape(plan, odd)}, 0.25);
    expect_agreement({"510x500x490, bricks to slabs, pairwise, one switch", flat, with_shape(plan, odd)},
                     0.01);
  }
}

/// A rank that computes between its tiles holds others up in the rounds of these.
TEST(SimGrid, AgreesOnRoundsOfTiles) {
  for (const FatTree& tree : {of_16, of_64}) {
    const DescribedPlan plan = plan_on(tree, "pairwise", "windowed");
    expect_agreement({"512^3, slabs, pairwise, windowed", tree, plan, balanced_point_s}, 0.02);
    expect_agreement({"512^3, pencils, pairwise, windowed", tree, pencils(plan), balanced_point_s}, 0.02);
    const DescribedPlan uneven = bricks_to_slabs(with_shape(plan, {510, 500, 490}));
    expect_agreement({"510x500x490, bricks to slabs, pairwise, windowed, one switch", one_switch(tree),
                      uneven, balanced_point_s},
                     0.02);
  }
}

/// In the model each rank has a fixed share of its machine's network, here what others leave it.
TEST(SimGrid, AgreesOnRoundsOfSeveralRanksOfAMachine) {
  const DescribedPlan plan = with_ranks(plan_on(of_16, "pairwise"), 4);
  expect_agreement({"512^3, slabs, pairwise, 4 ranks of a machine", of_16, plan});
  expect_agreement({"512^3, bricks to slabs, pairwise, 4 ranks of a machine, one switch", one_switch(of_16),
                    bricks_to_slabs(plan)},
                   0.1);
}

/// What the model does not know: of uneven parts a rank that is ahead gets in the way of others, unless its
/// parts are asked for.
TEST(SimGrid, IsSlowerWherePartsTravelBeforeTheirRound) {
  Comparison uneven{"512^3, slabs, pairwise, early", of_27, plan_on(of_27, "pairwise")};
  uneven.early_rounds = true;
  EXPECT_LT(compare(uneven), 0.85);
}

/// Nor what its description has no figure for: fewer links above the lowest switches than below them.
TEST(SimGrid, IsSlowerOnATaperedTreeByAsMuchAsItsLinksAreShared) {
  for (FatTree tree : {of_16, of_64, of_128}) {
    tree.up[1] /= tree.machines() == 64 ? 4 : 2;
    const double below = tree.down[0], ranks = tree.machines();
    const double factor = below * (ranks - below) / tree.up[1] / (ranks - 1);
    EXPECT_GT(factor, 1.5);
    const std::string name = "512^3, slabs, tapered " + std::to_string(tree.down[0] / tree.up[1]) + " to 1";
    EXPECT_NEAR(1 / compare({name, tree, plan_on(tree)}), factor, 0.02 * factor) << name;
  }
}

}  // namespace weft::test
