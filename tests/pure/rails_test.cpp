// Which network devices become rails, how parts are cut into transfers, and which rail carries each.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "transport/ucx/rail_table.hpp"
#ifdef WEFT_WITH_MPI
#include "transport/ucx/devices.hpp"
#endif

namespace weft::test {

TEST(RailTable, AllRailsInTurn) {
  RailTable table(3, 2, 2);
  EXPECT_EQ(table.transfers(), 2);
  for (int step = 1; step <= 3; ++step)
    for (int i = 0; i < 2; ++i) EXPECT_EQ(table.rail(step, i), (step - 1 + i) % 2);
  table.set(2, 1, 1);
  EXPECT_EQ(table.rail(2, 1), 1);
  EXPECT_EQ(table.rail(2, 0), 1);
  EXPECT_EQ(RailTable(2, 0, 0).rail(2, 0), 0);  // without transfers and without rails
}

TEST(RailTable, PartsAreCutAlikeForAllRails) {
  const RailSettings by_rule;
  EXPECT_EQ(transfers_of(0, by_rule, 2), 0);
  EXPECT_EQ(transfers_of(100, by_rule, 2), 1);  // too small to be cut
  EXPECT_EQ(transfers_of(100 << 10, by_rule, 1), 1);
  for (const int rails : {1, 2, 3, 4}) EXPECT_EQ(transfers_of(5 << 20, by_rule, rails) % rails, 0) << rails;
  RailSettings asked;
  asked.chunk = 1000;
  EXPECT_EQ(transfers_of(1000, asked, 2), 1);  // no more than needed
  EXPECT_EQ(transfers_of(2001, asked, 2), 3);
  EXPECT_EQ(transfers_of(4000, asked, 3), 4);  // six would be smaller than was asked for
  asked.chunk = 64 << 10;
  EXPECT_EQ(transfers_of(64 << 10, asked, 2), 2);
}

#ifdef WEFT_WITH_MPI

using ucx::choose_rails;
using ucx::DeviceClass;
using ucx::NetDevice;
using ucx::RailChoice;

namespace {

const NetDevice lo{"lo"}, docker{"docker0"}, eth0{"eth0"}, eth1{"eth1"}, eth10{"eth10"}, ens3{"ens3"},
    ib0{"mlx5_0:1", DeviceClass::verbs}, ib1{"mlx5_1:1", DeviceClass::verbs};
using Names = std::vector<std::string>;

}  // namespace

TEST(Rails, WhatIsLeftWillDoIfThePlanGoesOn) {
  const std::vector<std::vector<NetDevice>> of_ranks{{eth0, eth1, ens3}, {eth0, ens3}};
  EXPECT_EQ(choose_rails("eth0,eth1", of_ranks, true).names.at(1), (Names{"eth0"}));
  EXPECT_FALSE(choose_rails("eth0,eth1", of_ranks, true).named)
      << "what does not reach all is left out as well";
  EXPECT_EQ(choose_rails("3", of_ranks, true).names.at(0), (Names{"ens3", "eth0"}));
  EXPECT_EQ(choose_rails("1", of_ranks, true).wanted, 1);
  expect_error([&] { choose_rails("eth1", of_ranks, true); }, "networks none of which is left on all ranks");
  expect_error([&] { choose_rails("3", of_ranks); }, "3 where all ranks have 2");
}

TEST(Rails, AutoTakesTheBestClassThatAllRanksHave) {
  RailChoice c = choose_rails("auto", {{lo, eth0, ib1, ib0}, {ib0, eth0, ib1}});
  EXPECT_EQ(c.names, (std::vector<Names>{{"mlx5_0:1", "mlx5_1:1"}, {"mlx5_0:1", "mlx5_1:1"}}));
  EXPECT_EQ(c.classes, (std::vector{DeviceClass::verbs, DeviceClass::verbs}));
  EXPECT_EQ(c.warning, "");
  c = choose_rails("auto", {{lo, docker, eth10, eth1, eth0, ib0}, {lo, eth0, eth1, eth10}});
  EXPECT_EQ(c.names.at(0), (Names{"eth0", "eth1", "eth10"}));
  EXPECT_EQ(c.classes.at(0), DeviceClass::tcp);
}

TEST(Rails, UnequalRanksTakeWhatTheyHaveInCommonAndSaySo) {
  RailChoice c = choose_rails("auto", {{eth0, eth1}, {eth0}});
  EXPECT_EQ(c.names, (std::vector<Names>{{"eth0"}, {"eth0"}}));
  EXPECT_NE(c.warning.find("different network devices"), std::string::npos);
  c = choose_rails("auto", {{eth0, eth1}, {ens3}});
  EXPECT_EQ(c.names, (std::vector<Names>{{"eth0"}, {"ens3"}}));
  EXPECT_NE(c.warning.find("paired in order"), std::string::npos);
}

TEST(Rails, NumbersAndNames) {
  const RailChoice one = choose_rails("1", {{eth0, eth1}, {eth1, eth0}});
  EXPECT_EQ(one.names.at(1), (Names{"eth0", "eth1"}));  // of which the first that leads to all
  EXPECT_EQ(one.wanted, 1);
  EXPECT_EQ(choose_rails("eth1,lo", {{lo, eth0, eth1}, {lo, eth1}}).names.at(1), (Names{"eth1", "lo"}));
  expect_error(
      [] {
        choose_rails("3", {{eth0, eth1}, {eth1, eth0}});
      },
      "3 where all ranks have 2 (eth0, eth1");
  expect_error(
      [] {
        choose_rails("nonsense", {{eth0}, {eth0}});
      },
      "\"nonsense\", which is no network device of rank 0; expected auto, a number, or devices that "
      "UCX has on all ranks; there: eth0 (TCP)");
  expect_error([] { choose_rails("eth1", {{eth1}, {eth0}}); }, "no network device of rank 1");
  expect_error(
      [] {
        choose_rails("auto", {{lo, docker}, {lo, eth0}});
      },
      "some rank has no network device that leads to other hosts");
}

TEST(Rails, LeaveOutWhatDoesNotReachAll) {
  RailChoice c = choose_rails("auto", {{eth0, eth1, eth10}, {eth0, eth1, eth10}});
  c.leave_out({0, 2});
  EXPECT_EQ(c.names, (std::vector<Names>{{"eth1"}, {"eth1"}}));
  EXPECT_EQ(c.count(), 1);
}

/// Two NUMA nodes, with a device of each kind on either.
TEST(Rails, TheNearestInTheSumOverRanksComeFirst) {
  const numa::Map machine{
      {{0, {0, 1}}, {1, {2, 3}}}, {}, {{"eth0", 0}, {"eth1", 1}, {"mlx5_0", 0}, {"mlx5_1", 1}}};
  const auto from = [&](int home, std::vector<NetDevice> devices) {
    measure(devices, machine, home);
    return devices;
  };
  const std::vector<NetDevice> here = {eth0, eth1, eth10}, near0 = from(0, here), near1 = from(1, here);
  EXPECT_EQ(near1[1].distance, 10);
  EXPECT_EQ(near1[0].distance, 20);
  EXPECT_EQ(near1[2].distance, 20);  // on a node that is not known
  EXPECT_EQ(from(1, {ib0, ib1})[1].distance, 10);
  const Names by_name{"eth0", "eth1", "eth10"}, eth1_first{"eth1", "eth0", "eth10"};
  EXPECT_EQ(choose_rails("auto", {near1, near1}).names, (std::vector<Names>{eth1_first, eth1_first}));
  EXPECT_EQ(choose_rails("1", {near1, near0, near1}).names.at(1), eth1_first);
  EXPECT_EQ(choose_rails("1", {near1, near0}).names.at(0), by_name);
  EXPECT_EQ(choose_rails("1", {near1, here}).names.at(1), eth1_first);  // a rank that is bound to no node
  EXPECT_EQ(choose_rails("eth0,eth1", {near1, near1}).names.at(0), (Names{"eth0", "eth1"}));
  // Devices that are paired in order stay pairs.
  const RailChoice pairs = choose_rails("auto", {near1, {{"ens3"}, {"ens4"}, {"ens5"}}});
  EXPECT_EQ(pairs.names, (std::vector<Names>{eth1_first, {"ens4", "ens3", "ens5"}}));
}

TEST(Rails, DevicesTravelAsText) {
  NetDevice far = ib0;
  far.distance = 21;
  const std::vector<NetDevice> devices = ucx::devices_of(ucx::to_text({far, eth0}));
  ASSERT_EQ(devices.size(), 2);
  EXPECT_EQ(devices[0].name, "mlx5_0:1");
  EXPECT_EQ(devices[0].distance, 21);
  EXPECT_EQ(devices[1].distance, 0);
  EXPECT_EQ(devices[0].device_class, DeviceClass::verbs);
  EXPECT_EQ(devices[1].device_class, DeviceClass::tcp);
}

#endif

}  // namespace weft::test
