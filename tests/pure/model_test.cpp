// The model: machine descriptions as values and as JSON, what operations cost, and programs replayed with a
// clock.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/machine_json.hpp"
#include "model/rank_classes.hpp"
#include "support/described_machine.hpp"
#include "support/expect_error.hpp"
#include "support/random_problem.hpp"

namespace weft::test {

TEST(Curve, IsStraightBetweenItsPointsOnLogarithmicAxes) {
  const Curve curve({{1, 1}, {100, 10000}});
  EXPECT_DOUBLE_EQ(curve.at(10), 100);
  EXPECT_DOUBLE_EQ(curve.at(0.1), 1);
  EXPECT_DOUBLE_EQ(curve.at(1e6), 10000);
}

TEST(MachineFile, ComesBackAsItWas) {
  const MachineDescription machine = described_machine();
  EXPECT_EQ(read_machine(to_json(machine)), machine);
  MachineDescription crowded = machine;
  crowded.links[2].share_by_machines = Curve({{2, 1}, {64, 0.25}});
  EXPECT_EQ(read_machine(to_json(crowded)), crowded);
  EXPECT_NE(crowded, machine);
}

TEST(MachineFile, ErrorsNameTheField) {
  const auto refuses = [](const auto& change, const char* text) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(to_json(described_machine()));
    change(json);
    expect_error([&] { read_machine(json.dump()); }, text);
  };
  expect_error([] { read_machine("{"); }, "no JSON");
  expect_error([] { read_machine("[]"); }, "an object");
  refuses([](auto& j) { j["weft_machine"] = 2; }, "weft_machine = 2; expected version 1");
  refuses([](auto& j) { j.erase("weft_machine"); }, "weft_machine is missing");
  refuses([](auto& j) { j["processor"].erase("cores"); }, "processor.cores is missing");
  refuses([](auto& j) { j["processor"]["cores"] = -2; }, "processor.cores = -2");
  refuses([](auto& j) { j["processor"]["cores"] = 1.5; }, "processor.cores = 1.5; expected a whole number");
  refuses([](auto& j) { j["processor"]["cores"] = "many"; }, "processor.cores = \"many\"");
  refuses([](auto& j) { j["processor"]["ffts"][1]["in_cache_s"] = 0; }, "processor.ffts[fftw, 64]");
  refuses([](auto& j) { j["processor"]["ffts"][1].erase("shape"); }, "processor.ffts[1].shape is missing");
  refuses([](auto& j) { j["processor"]["ffts"][1]["shape"] = "cubes"; }, "shape = cubes");
  refuses([](auto& j) { j["processor"]["copy_alone"] = {{64, -1e9}}; }, "processor.copy_alone = -1");
  refuses([](auto& j) { j["processor"]["copy_alone"] = {{64, 1e9}, {32, 1e9}}; }, "ascending");
  refuses([](auto& j) { j["processor"]["copy_alone"] = nlohmann::json::array(); },
          "processor.copy_alone has no points");
  refuses([](auto& j) { j["links"][2]["node_bytes_per_s"] = 1e30; },
          "links[network, messages].node_bytes_per_s");
  refuses([](auto& j) { j["links"][2]["latency_s"] = -1; }, "links[network, messages].latency_s");
  refuses([](auto& j) { j["links"][2]["between"] = "moons"; }, "links.between = moons");
  refuses([](auto& j) { j["links"][0]["busy_share"] = 1.5; }, "links[node, messages].busy_share");
  refuses(
      [](auto& j) {
        j["links"][2]["share_by_machines"] = {{2, 1.5}};
      },
      "links[network, messages].share_by_machines = 1.5");
  refuses(
      [](auto& j) {
        j["links"][2]["share_by_machines"] = {{2, 0}};
      },
      "links[network, messages].share_by_machines = 0");
}

/// One rank: what the figures say, counted by hand.
TEST(Model, OfOneRankIsTheSumOfItsPasses) {
  DescribedPlan plan;
  plan.ranks = 1;
  const double points = 64 * 64 * 64;
  // Three axes at a nanosecond each; of points from memory the first costs half as much again.
  EXPECT_NEAR(plan.seconds_on(described_machine()), 3 * points * 1e-9, 0.6 * points * 1e-9);
}

TEST(Model, OfMessagesCountsLatencyAndBytes) {
  const MachineDescription machine = described_machine();
  MachineDescription endless = machine;
  endless.links[2].latency_s = 0;
  endless.links[2].node_bytes_per_s = 0;
  endless.links[2].bytes_per_s = Curve({{64, 1e15}});
  DescribedPlan plan;
  plan.options.set("pipeline", "sequential").set("exchange", "p2p");
  const double bytes = 64.0 * 64 * 64 * 16 * 3 / 16;  // three of four parts of a quarter
  // Two parts are unpacked while the third is on its way.
  const double hidden = 2 * 2 * bytes / 3 / 1e9;
  EXPECT_NEAR(plan.seconds_on(machine) - plan.seconds_on(endless), bytes / 1e8 + 1e-3 - hidden, 1e-5);
  // In rounds, each of which has its latency.
  plan.options.set("exchange", "alltoallv");
  EXPECT_NEAR(plan.seconds_on(machine) - plan.seconds_on(endless), bytes / 1e8 + 3e-3, 1e-5);
}

TEST(Model, MachinesGetInEachOthersWay) {
  MachineDescription machine = described_machine();
  DescribedPlan plan;
  plan.options.set("pipeline", "sequential").set("exchange", "alltoallv");
  const double bytes = 64.0 * 64 * 64 * 16 * 3 / 16;
  const PlanPrediction free = plan.on(machine);
  machine.links[2].share_by_machines = Curve({{1, 1}, {16, 1.0 / 16}});  // of 4 machines a quarter
  const PlanPrediction crowded = plan.on(machine);
  EXPECT_NEAR(crowded.prediction.seconds - free.prediction.seconds, 3 * bytes / 1e8, 1e-5);
  EXPECT_NEAR(crowded.prediction.wire_s, 4 * bytes / 1e8, 1e-5);
  plan.per_node = 2;                                         // whose ranks share the speed of a machine
  const double shared = plan.on(machine).prediction.wire_s;  // two of the three parts, half of a half
  EXPECT_NEAR(shared, 4 * bytes * 2 / 3 / 1e8, 1e-5);
}

/// Where several ranks send to the same ones, in the same order, no link rests while they wait for the first
/// of these: parts that are under way share the links.
TEST(Model, RanksThatSendToTheSameOnesShareTheLinks) {
  MachineDescription machine = described_machine();
  machine.processor.copy_alone = machine.processor.copy_together = Curve({{1, 1e15}});
  for (FftSpeed& f : machine.processor.ffts) f.in_cache_s = f.in_memory_s = 1e-15;
  for (LinkDescription& l : machine.links) l.latency_s = l.part_s = l.busy_share = 0;
  DescribedPlan plan;
  plan.options.set("exchange", "p2p").set("pipeline", "sequential");
  const auto expect_busy_links = [&] {
    const Prediction p = plan.on(machine).prediction;
    EXPECT_NEAR(p.seconds, p.wire_s, 0.05 * p.wire_s);
  };
  plan.input = Distribution::brick();
  plan.output = Distribution::slab(0);
  plan.options.set("decomposition", "slab");
  for (const int ranks : {16, 64}) {
    plan.ranks = ranks;
    expect_busy_links();
  }
  plan.input = Distribution::pencil(2);
  plan.output = Distribution::pencil(0);
  plan.options.set("decomposition", "pencil");
  plan.per_node = 4;
  expect_busy_links();
}

TEST(Model, OverlapHidesWhatItCan) {
  MachineDescription machine = described_machine();
  machine.processor.copy_alone = machine.processor.copy_together = Curve({{1 << 16, 1e10}});
  DescribedPlan plan;
  plan.shape = {128, 128, 128};
  plan.options.set("exchange", "p2p").set("pipeline", "sequential");
  const double sequential = plan.seconds_on(machine);
  plan.options.set("pipeline", "two-front");
  const PlanPrediction overlapped = plan.on(machine);
  EXPECT_LT(overlapped.prediction.seconds, sequential);
  EXPECT_GE(overlapped.prediction.seconds, overlapped.prediction.bound_s());
}

TEST(Model, TheCriticalPathAddsUpToTheTime) {
  for (const int per_node : {1, 2, 4})  // the last on fewer cores than ranks
    for (const char* pipeline : {"sequential", "windowed", "planes", "two-front"}) {
      DescribedPlan plan;
      plan.per_node = per_node;
      plan.options.set("pipeline", pipeline);
      MachineDescription machine = described_machine();
      machine.processor.cores = 3;
      const Prediction p = plan.on(machine).prediction;
      double sum = 0;
      for (const auto& [activity, seconds] : p.critical) sum += seconds;
      EXPECT_NEAR(sum, p.seconds, 1e-3 * p.seconds) << pipeline << ", " << per_node;
      double spent = 0;
      for (const auto& [activity, seconds] : p.activities) spent += seconds;
      EXPECT_NEAR(spent, p.seconds, 1e-3 * p.seconds) << pipeline << ", " << per_node;
    }
}

TEST(Model, NeverFallsWhenALinkIsSlowerOrAnArrayIsLarger) {
  for (const char* exchange : {"p2p", "alltoallv", "p2pw", "node"})
    for (const char* pipeline : {"sequential", "windowed", "two-front"})
      for (const int per_node : {1, 2}) {
        if (per_node == 1 && exchange == std::string("node")) continue;
        DescribedPlan plan;
        plan.per_node = per_node;
        plan.options.set("exchange", exchange).set("pipeline", pipeline);
        double before = 0;
        for (const double speed : {1e10, 1e9, 3e8, 1e8, 1e7}) {
          MachineDescription machine = described_machine();
          machine.links[2].bytes_per_s = Curve({{64, speed}});
          machine.links[2].node_bytes_per_s = speed;
          const double seconds = plan.seconds_on(machine);
          EXPECT_GE(seconds, before) << exchange << " " << pipeline << " " << speed;
          before = seconds;
        }
        before = 0;
        for (const double latency : {0.0, 1e-6, 1e-4, 1e-2}) {
          MachineDescription machine = described_machine();
          machine.links[2].latency_s = latency;
          const double seconds = plan.seconds_on(machine);
          EXPECT_GE(seconds, before) << exchange << " " << pipeline << " " << latency;
          before = seconds;
        }
        before = 0;
        for (const Index n : {16, 32, 64, 128}) {
          plan.shape = {n, n, n};
          const double seconds = plan.seconds_on(described_machine());
          EXPECT_GE(seconds, before) << exchange << " " << pipeline << " " << n;
          before = seconds;
        }
      }
}

TEST(Model, OfLikeRanksReplayedOnceIsThatOfAll) {
  for (const int per_node : {1, 8})
    for (const char* pipeline : {"sequential", "two-front"}) {
      DescribedPlan plan;
      plan.shape = {64, 64, 64};
      plan.ranks = std::string(pipeline) == "sequential" ? 512 : 64;
      plan.per_node = per_node;
      plan.options.set("decomposition", "pencil").set("exchange", "p2p").set("pipeline", pipeline);
      plan.input = plan.output = Distribution::pencil(2);
      MachineDescription machine = described_machine();
      const PlanPrediction all = plan.on(machine);
      plan.replayed = ReplayedRanks::classes;
      const PlanPrediction some = plan.on(machine);
      EXPECT_EQ(all.replayed.ranks.size(), static_cast<std::size_t>(plan.ranks));
      EXPECT_LT(some.replayed.ranks.size(), 20u);
      // Where ranks share a machine, which of their parts go past the network shifts the order of the others,
      // and some of these meet at a receiver; ranks of a class are taken to keep out of each other's way.
      EXPECT_NEAR(some.prediction.seconds, all.prediction.seconds,
                  (per_node == 1 ? 0.05 : 0.1) * all.prediction.seconds)
          << pipeline << ", " << per_node;
    }
}

/// Ranks store within a machine and send to others. The rank that stands for others has tiles of its own, in
/// which it may do nothing of what another one waits for.
TEST(Model, OfOneRankForAllIsThatOfAllWhereSomeStoreAndOthersSend) {
  const MachineDescription machine = described_machine();
  for (const int per_node : {2, 4, 6})
    for (const char* pipeline : {"sequential", "planes", "two-front", "windowed"})
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        DescribedPlan plan;
        plan.ranks = 64;
        plan.per_node = per_node;
        plan.input = Distribution::brick();
        plan.options.set("exchange", "direct").set("pipeline", pipeline);
        plan.direction = direction;
        const PlanPrediction all = plan.on(machine);
        EXPECT_EQ(all.replayed.ranks.size(), 64U);
        for (const ReplayedRanks some : {ReplayedRanks::busiest, ReplayedRanks::classes}) {
          plan.replayed = some;
          const PlanPrediction of = plan.on(machine);
          EXPECT_LT(of.replayed.ranks.size(), some == ReplayedRanks::busiest ? 2U : 20U);
          // Where ranks share a machine, those that stand for others do not meet at receivers; see
          // docs/model.md.
          EXPECT_NEAR(of.prediction.seconds, all.prediction.seconds,
                      (per_node == 6 ? 0.25 : 0.2) * all.prediction.seconds)
              << pipeline << ", " << per_node << ", " << name_of(direction);
        }
      }
}

/// What ranks gather for another machine costs copies, and saves what messages cost beside their bytes.
TEST(Model, OneMessageForEachPairOfMachinesPaysWhereMessagesAreShort) {
  MachineDescription machine = described_machine();
  machine.links[2].part_s = 2e-4;
  DescribedPlan plan;
  plan.ranks = 16;
  plan.per_node = 4;
  for (const ReplayedRanks some : {ReplayedRanks::all, ReplayedRanks::classes, ReplayedRanks::busiest})
    for (const char* pipeline : {"sequential", "two-front"})
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        plan.replayed = some;
        plan.direction = direction;
        const auto over_stores = [&](Index n) {
          plan.shape = {n, n, n};
          plan.options.set("pipeline", pipeline).set("exchange", "direct");
          const double stores = plan.seconds_on(machine);
          plan.options.set("exchange", "node");
          return plan.seconds_on(machine) / stores;
        };
        EXPECT_LT(over_stores(32), 0.5) << pipeline << ", " << name_of(direction);
        EXPECT_GT(over_stores(256), 1) << pipeline << ", " << name_of(direction);
      }
}

/// A message leaves when the last rank of its machine has packed, and what stands for others packs as they
/// do.
TEST(Model, OfOneMessageForEachPairOfMachinesIsThatOfAllRanks) {
  const MachineDescription machine = described_machine();
  for (const int per_node : {2, 4, 6})
    for (const char* pipeline : {"sequential", "two-front", "windowed"}) {
      DescribedPlan plan;
      plan.ranks = 24;
      plan.per_node = per_node;
      plan.options.set("exchange", "node").set("pipeline", pipeline);
      const double all = plan.seconds_on(machine);
      for (const ReplayedRanks some : {ReplayedRanks::busiest, ReplayedRanks::classes}) {
        plan.replayed = some;
        EXPECT_NEAR(plan.seconds_on(machine), all, 0.2 * all) << pipeline << ", " << per_node;
      }
    }
}

TEST(Model, OfRandomProblemsIsFiniteAndPositive) {
  const MachineDescription machine = described_machine();
  for (int i = 0; i < problem_count(150); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    RandomProblem p = make_random_problem(seed, 1 + static_cast<int>(seed % 7), true);
    draw_codecs(p, false);
    Problem problem = p.of(0);
    check_problem(problem, p.ranks);
    const std::vector<int> nodes = nodes_of(p.ranks, p.node_ranks > 0 ? p.node_ranks : p.ranks);
    Setting setting = described_setting(machine, nodes, false);
    setting.given = {p.input_boxes, p.output_boxes, p.input_orders, p.output_orders};
    try {
      const Design d = design(problem, wishes_of(p.options), setting);
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        const Prediction of = predict({machine, d, setting, problem.precision}, direction).prediction;
        EXPECT_TRUE(std::isfinite(of.seconds) && of.seconds >= 0) << p.describe();
        EXPECT_GE(of.seconds, 0.999 * of.compute_s) << p.describe();
      }
    } catch (const Error& e) {
      ADD_FAILURE() << e.what() << "\n" << p.describe();
    }
  }
}

TEST(Model, SaysWhatAMachineLacks) {
  MachineDescription machine = described_machine();
  machine.links.erase(machine.links.begin() + 2);
  expect_error([&] { DescribedPlan{}.seconds_on(machine); }, "without a link for messages between machines");
  machine = described_machine();
  std::erase_if(machine.processor.codecs, [](const CodecSpeed& c) { return c.codec == "fp32"; });
  DescribedPlan coded;
  coded.options.set("codec", "fp32");
  expect_error([&] { coded.seconds_on(machine); }, "speeds of codecs");
}

TEST(RankClasses, HaveEqualBoxesAndMachines) {
  Problem problem;
  problem.shape = {64, 64, 64};
  problem.output = Distribution::slab(1);
  check_problem(problem, 6);  // 64 planes on 6 ranks: 11, 11, 11, 11, 10, 10
  const MachineDescription machine = described_machine();
  const std::vector<int> nodes = nodes_of(6, 2);
  const Design d = design(problem, wishes_of({}), described_setting(machine, nodes, false));
  EXPECT_EQ(like_ranks(d.schedule(Direction::forward), nodes), (std::vector<int>{0, 1, 0, 1, 4, 5}));
}

}  // namespace weft::test
