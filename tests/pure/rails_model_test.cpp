// The model of exchanges on rails: what a description says of one network, two and so on, and what that does
// to the times of plans.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/machine_json.hpp"
#include "support/described_machine.hpp"
#include "support/expect_error.hpp"
#include "support/says.hpp"

namespace weft::test {

namespace {

/// Links of 100 MB/s, of which one network carries all and two carry as much as is said.
MachineDescription with_rails(double two_bytes_per_s = 2e8) {
  MachineDescription m = described_machine();
  m.links[2].rails = {{1e-3, 1e-6, 1e8, 0}, {1e-3, 1e-6, two_bytes_per_s, 0}};
  return m;
}

using Json = nlohmann::ordered_json;

}  // namespace

TEST(RailsOfAMachineFile, ComeBackAsTheyWere) {
  MachineDescription machine = with_rails();
  machine.links[2].rails[1] = {2e-3, 3e-6, 1.5e8, 4096, 0.25};
  const MachineDescription read = read_machine(to_json(machine));
  EXPECT_EQ(read, machine);
  EXPECT_EQ(read.links[2].rails[1].burst_bytes, 4096);
  EXPECT_EQ(read.links[2].rails[1].busy_share, 0.25);
  EXPECT_NE(read, with_rails());
}

/// Files of before, which are also what machines without such an exchange have.
TEST(RailsOfAMachineFile, MayBeMissing) {
  const std::string text = to_json(described_machine());
  EXPECT_FALSE(says(text, "rails"));
  EXPECT_EQ(Json::parse(text)["weft_machine"], 1);
  EXPECT_TRUE(read_machine(text).links[2].rails.empty());
  EXPECT_EQ(Json::parse(to_json(with_rails()))["weft_machine"], 1);
}

TEST(RailsOfAMachineFile, ErrorsNameTheField) {
  const auto refuses = [](const auto& change, const char* text) {
    Json json = Json::parse(to_json(with_rails()));
    change(json["links"][2]["rails"]);
    expect_error([&] { read_machine(json.dump()); }, text);
  };
  refuses([](Json& rails) { rails[1]["latency_s"] = -1; },
          "links[network, messages].rails[1].latency_s = -1");
  refuses([](Json& rails) { rails[0]["part_s"] = 1e9; }, "links[network, messages].rails[0].part_s");
  refuses([](Json& rails) { rails[1]["bytes_per_s"] = 0; },
          "links[network, messages].rails[1].bytes_per_s = 0");
  refuses([](Json& rails) { rails[0]["burst_bytes"] = -5; }, "links[2].rails[0].burst_bytes = -5");
  refuses([](Json& rails) { rails[1]["busy_share"] = 2; },
          "links[network, messages].rails[1].busy_share = 2");
  refuses([](Json& rails) { rails[1].erase("bytes_per_s"); }, "links[2].rails[1].bytes_per_s is missing");
  refuses([](Json& rails) { rails[1]["part_s"] = "short"; }, "links[2].rails[1].part_s = \"short\"");
  refuses([](Json& rails) { rails = 2; }, "links[2].rails = 2; expected a list");
  refuses([](Json& rails) { rails[1] = 2e8; }, "links[2].rails[1]");
  MachineDescription machine = with_rails();
  machine.links[0].rails = machine.links[2].rails;
  expect_error([&] { check_machine(machine); }, "links[node, messages].rails");
}

TEST(RailsOfALink, AreNoMoreThanAreDescribed) {
  const LinkDescription network = with_rails(1.5e8).links[2];
  for (const auto& [wanted, used] : {std::pair(0, 2), {1, 1}, {2, 2}, {5, 2}}) {
    EXPECT_EQ(rails_used(network, wanted), used);
    EXPECT_EQ(bytes_per_s(on_rails(network, wanted), 1e5, 1, 4), used == 1 ? 1e8 : 1.5e8);
    EXPECT_EQ(bytes_per_s(on_rails(network, wanted), 1e5, 2, 4), used == 1 ? 5e7 : 7.5e7);
  }
  const LinkDescription none = described_machine().links[2];
  for (const int wanted : {0, 1, 3}) {
    EXPECT_EQ(rails_used(none, wanted), 1);
    EXPECT_EQ(on_rails(none, wanted), none);
  }
  LinkDescription crowded = network;
  crowded.share_by_machines = Curve({{4, 0.5}});
  EXPECT_EQ(bytes_per_s(on_rails(crowded, 2), 1e5, 1, 4), 7.5e7);
}

TEST(RailsOfAnOption, AreCounted) {
  for (const auto& [rails, wanted] :
       {std::pair("auto", 0), {"1", 1}, {"3", 3}, {"eth0", 1}, {"eth0,eth1", 2}, {"mlx5_0:1,mlx5_1:1,lo", 3}})
    EXPECT_EQ(wanted_rails(rails), wanted) << rails;
}

#ifdef WEFT_WITH_MPI  // which has the exchange

namespace {

/// On four machines.
DescribedPlan on_rails_of(const std::string& rails, const char* exchange = "ucx") {
  DescribedPlan plan;
  plan.options.set("exchange", exchange).set("rails", rails).set("pipeline", "sequential");
  return plan;
}

/// Nothing but links takes time.
MachineDescription only_links(MachineDescription machine) {
  machine.processor.copy_alone = machine.processor.copy_together = Curve({{1, 1e15}});
  for (FftSpeed& f : machine.processor.ffts) f.in_cache_s = f.in_memory_s = 1e-15;
  machine.processor.operation_s = 0;
  return machine;
}

}  // namespace

TEST(RailsModel, TwoTakeHalfWhereBandwidthBounds) {
  MachineDescription machine = only_links(with_rails());
  for (RailsDescription& r : machine.links[2].rails) r.latency_s = r.part_s = 0;
  for (const char* pipeline : {"sequential", "windowed", "planes", "two-front"})
    for (const ReplayedRanks some : {ReplayedRanks::all, ReplayedRanks::classes, ReplayedRanks::busiest})
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        SCOPED_TRACE(std::string(pipeline) + ", " + name_of(direction));
        DescribedPlan one = on_rails_of("1"), two = on_rails_of("2");
        for (DescribedPlan* p : {&one, &two}) {
          p->options.set("pipeline", pipeline);
          p->replayed = some;
          p->direction = direction;
        }
        const Prediction with_one = one.on(machine).prediction, with_two = two.on(machine).prediction;
        EXPECT_NEAR(with_two.seconds, with_one.seconds / 2, 0.01 * with_one.seconds);
        EXPECT_NEAR(with_two.wire_s, with_one.wire_s / 2, 1e-9);
      }
  const double bytes = 64.0 * 64 * 64 * 16 * 3 / 16;  // three of four parts of a quarter
  EXPECT_NEAR(on_rails_of("1").seconds_on(machine), bytes / 1e8, 1e-5);
  // What two carry is what was measured of two.
  machine.links[2].rails[1].bytes_per_s = 1.25e8;
  EXPECT_NEAR(on_rails_of("2").seconds_on(machine), bytes / 1.25e8, 1e-5);
}

/// Of three parts, one after the other, the receiver's processor takes the last when nothing else arrives.
TEST(RailsModel, ProcessorsAreBusyWithWhatArrives) {
  MachineDescription machine = only_links(with_rails());
  for (RailsDescription& r : machine.links[2].rails) r.latency_s = r.part_s = 0;
  const double idle = on_rails_of("2").seconds_on(machine);
  machine.links[2].rails[0].busy_share = 1;  // which is not used
  EXPECT_EQ(on_rails_of("2").seconds_on(machine), idle);
  machine.links[2].rails[1].busy_share = 0.6;
  EXPECT_NEAR(on_rails_of("2").seconds_on(machine), (1 + 0.6 / 3) * idle, 0.001 * idle);
}

TEST(RailsModel, TakeAsLongWhereLatencyBounds) {
  const MachineDescription machine = only_links(with_rails());
  DescribedPlan one = on_rails_of("1"), two = on_rails_of("2");
  one.shape = two.shape = {4, 4, 4};
  const double seconds = one.seconds_on(machine);
  EXPECT_GT(seconds, 1e-3);
  EXPECT_NEAR(two.seconds_on(machine), seconds, 0.01 * seconds);
  // Unless the latency is another one.
  MachineDescription later = machine;
  later.links[2].rails[1].latency_s = 3e-3;
  EXPECT_NEAR(two.seconds_on(later), seconds + 2e-3, 0.01 * seconds);
}

TEST(RailsModel, LeavesOtherExchangesAsTheyAre) {
  MachineDescription machine = with_rails();
  machine.links[2].rails[0].bytes_per_s = 3e8;  // not what others find
  for (const char* exchange : {"p2p", "alltoallv", "pairwise"}) {
    const PlanPrediction without = on_rails_of("auto", exchange).on(described_machine());
    for (const char* rails : {"1", "2", "auto"}) {
      const PlanPrediction with = on_rails_of(rails, exchange).on(machine);
      EXPECT_EQ(with.prediction.seconds, without.prediction.seconds) << exchange << " " << rails;
      EXPECT_EQ(with.prediction.wire_s, without.prediction.wire_s) << exchange << " " << rails;
      EXPECT_EQ(with.prediction.rails, PredictedRails());
      EXPECT_FALSE(says(to_string(with.prediction), "rail"));
    }
  }
}

/// A plan may have both.
TEST(RailsModel, CountsTheBytesOfEachExchange) {
  const MachineDescription machine = with_rails();
  DescribedPlan plan = on_rails_of("2", "ucx,p2p");
  plan.output = Distribution::slab(0);  // two reshapes of as many bytes
  const double bytes = 64.0 * 64 * 64 * 16 * 3 / 16;
  const PlanPrediction p = plan.on(machine);
  EXPECT_NEAR(p.prediction.wire_s, bytes / 2e8 + bytes / 1e8, 1e-6);
  EXPECT_EQ(p.prediction.rails.used, 2);
}

TEST(RailsModel, SaysWithHowManyItPredicts) {
  const MachineDescription machine = with_rails(1.9e8), old = described_machine();
  const auto text = [](const MachineDescription& on, const std::string& rails) {
    return to_string(on_rails_of(rails).on(on).prediction);
  };
  EXPECT_TRUE(says(text(machine, "1"), "  1 rail, by which a machine sends 100 MB/s\n"));
  for (const char* rails : {"2", "auto", "eth0,eth1"})
    EXPECT_TRUE(says(text(machine, rails), "  2 rails at a time, by which a machine sends 190 MB/s\n"))
        << rails;
  EXPECT_TRUE(says(text(machine, "3"), "190 MB/s: of 3 that are wanted, so many are described\n"));
  EXPECT_TRUE(says(text(old, "2"), "  1 rail, by which a machine sends 100 MB/s: none is described"));
  EXPECT_EQ(on_rails_of("1").seconds_on(old), on_rails_of("2").seconds_on(old));
  // Ranks of one machine have its memory.
  DescribedPlan near = on_rails_of("2");
  near.per_node = 4;
  EXPECT_EQ(near.on(machine).prediction.rails.used, 0);
}

/// Two of the three parts go to the other machine, whose ranks share the rails.
TEST(RailsModel, RanksOfAMachineShareThem) {
  DescribedPlan plan = on_rails_of("2");
  plan.per_node = 2;
  const double bytes = 64.0 * 64 * 64 * 16 * 2 / 16;
  EXPECT_NEAR(plan.on(with_rails()).prediction.wire_s, bytes / 1e8, 1e-6);
}

#endif

}  // namespace weft::test
