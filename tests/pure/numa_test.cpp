// NUMA nodes of machines that are written down, and where threads and memory go for their sake.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "base/numa/binding.hpp"
#include "base/test_hook.hpp"
#include "support/memory_policy.hpp"
#include "support/says.hpp"
#include "support/scoped_variable.hpp"

namespace weft::test {

using numa::Map;
using numa::Processors;
using numa::unknown;

namespace {

Map two_nodes() {
  return {{{0, {0, 2, 4}}, {2, {1, 3, 5}}}, {}, {{"eth0", 0}, {"eth1", 2}, {"0000:3b:00.0", 2}}};
}

}  // namespace

TEST(Numa, DevicesAndProcessorsHaveANode) {
  const Map map = two_nodes();
  EXPECT_EQ(map.node_of("eth1"), 2);
  EXPECT_EQ(map.node_of("0000:3b:00.0"), 2);
  EXPECT_EQ(map.node_of("eth7"), unknown);
  EXPECT_EQ(map.node_of(Processors{1, 5}), 2);
  EXPECT_EQ(map.node_of(Processors{0, 1}), unknown);
  EXPECT_EQ(map.node_of(Processors{}), unknown);
  EXPECT_EQ(map.node_of(Processors{17}), unknown);
}

TEST(Numa, WhatIsNotKnownIsFar) {
  Map map = two_nodes();
  EXPECT_EQ(map.distance(2, 2), 10);
  EXPECT_EQ(map.distance(2, 0), 20);
  EXPECT_EQ(map.distance(2, unknown), 20);
  EXPECT_EQ(map.distance(unknown, 2), 0);
  map.distances = {{10, 31}, {32, 10}};
  EXPECT_EQ(map.distance(0, 2), 31);
  EXPECT_EQ(map.distance(2, 0), 32);
  EXPECT_EQ(map.distance(2, unknown), 32);
}

TEST(Numa, ProcessorsByDevicesAreOfThoseAllowed) {
  const Map map = two_nodes();
  EXPECT_EQ(map.near({"eth1"}, {0, 1, 2, 3}), (Processors{1, 3}));
  EXPECT_EQ(map.near({"eth0", "eth1", "eth7"}, {1, 2, 3}), (Processors{1, 2, 3}));
  EXPECT_EQ(map.near({"eth1"}, {0, 2}), Processors{});
  EXPECT_EQ(map.near({"eth7"}, {0, 1}), Processors{});
}

TEST(Numa, OneNodeIsAsNone) {
  const Map map{{{0, {0, 1}}}, {}, {{"eth0", 0}}};
  EXPECT_EQ(map.node_of("eth0"), unknown);
  EXPECT_EQ(map.node_of(Processors{0}), unknown);
  EXPECT_EQ(map.distance(0, unknown), 0);
  EXPECT_EQ(map.near({"eth0"}, {0, 1}), Processors{});
}

TEST(Numa, AVariableSwitchesItOff) {
  const Map map = two_nodes();
  const ScopedSwitch<const Map*> pretended(numa::detail::pretended_machine, &map);
  EXPECT_EQ(numa::of_machine().node_of("eth1"), 2);
  EXPECT_EQ(numa::description(), "2 NUMA nodes");
  const ScopedVariable off("WEFT_NUMA", "off");
  EXPECT_FALSE(numa::of_machine().has_several());
  EXPECT_TRUE(says(numa::description(), "WEFT_NUMA is off"));
}

#ifdef WEFT_WITH_HWLOC

namespace {

class NumaByHwloc : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = numa::look_up(WEFT_FOUR_NUMA_NODES).missing; !why.empty())
      GTEST_SKIP() << why;
  }
};

}  // namespace

/// Two packages of two nodes each, and a fifth node that is memory beside the second package.
TEST_F(NumaByHwloc, ReadsNodesDistancesAndDevices) {
  const Map map = numa::look_up(WEFT_FOUR_NUMA_NODES).map;
  ASSERT_EQ(map.nodes.size(), 4);
  EXPECT_EQ(map.node_of(Processors{2, 6}), 2);
  EXPECT_EQ(map.node_of(Processors{2, 3}), unknown);
  EXPECT_EQ(map.distance(0, 1), 12);
  EXPECT_EQ(map.distance(3, 1), 21);
  // eth0 is attached to a whole package, eth1 to the machine, and nvme0n1 is no network.
  const std::map<std::string, int> expected{{"ib0", 0},          {"mlx5_0", 0},       {"ib1", 3},
                                            {"mlx5_1", 3},       {"0000:17:00.0", 0}, {"0001:3b:00.0", 3},
                                            {"0001:5e:00.0", 3}, {"0001:88:00.0", 3}};
  EXPECT_EQ(map.devices, expected);
}

TEST_F(NumaByHwloc, AMachineWithOneNodeIsEmpty) {
  {
    const ScopedVariable machine("HWLOC_SYNTHETIC", "numa:1 core:4 pu:1");
    const numa::Found found = numa::look_up();
    EXPECT_EQ(found.missing, "");
    EXPECT_TRUE(found.map.nodes.empty());
  }
  const ScopedVariable machine("HWLOC_SYNTHETIC", "numa:2 core:4 pu:1");
  EXPECT_EQ(numa::look_up().map.nodes.size(), 2);
}

TEST_F(NumaByHwloc, AFileThatIsNotThereIsSaid) {
  EXPECT_TRUE(says(numa::look_up("/no/such/machine.xml").missing, "cannot read /no/such/machine.xml"));
}

#endif

/// Run with a library that is not there, and in builds without hwloc. Where there is one it need not look at
/// this machine, which loses some memory of its plugins.
TEST(NumaMissing, SaysWhatToDo) {
  const ScopedVariable machine("HWLOC_SYNTHETIC", "numa:1 core:1 pu:1");
  const numa::Found found = numa::look_up();
  if (found.missing.empty()) GTEST_SKIP() << "hwloc is there";
  EXPECT_TRUE(found.map.nodes.empty());
#ifdef WEFT_WITH_HWLOC
  EXPECT_TRUE(says(found.missing, "in the environment variable WEFT_HWLOC_LIBRARY"));
#else
  EXPECT_TRUE(says(found.missing, "-DWEFT_HWLOC=ON"));
#endif
}

TEST(NumaBinding, ThreadsGoWhereTheyMay) {
  const Processors mine = numa::of_thread();
  ASSERT_FALSE(mine.empty());
  std::promise<void> bound;
  Processors there;
  std::thread thread([&] {
    bound.get_future().wait();
    there = numa::of_thread();
  });
  numa::bind(thread, {mine.back()});
  numa::bind(thread, {});
  bound.set_value();
  thread.join();
  EXPECT_EQ(there, Processors{mine.back()});
  EXPECT_EQ(numa::of_thread(), mine);
}

TEST(NumaBinding, MemoryComesFromANodeForAWhile) {
  if (!may_set_memory_policy()) GTEST_SKIP() << "no right to place memory";
  {
    const numa::MemoryFrom node(0);
    EXPECT_EQ(memory_policy(), std::pair(int{MPOL_PREFERRED}, 1UL));
  }
  EXPECT_EQ(memory_policy().first, MPOL_DEFAULT);
  const numa::MemoryFrom anywhere(unknown);
  EXPECT_EQ(memory_policy().first, MPOL_DEFAULT);
}

TEST(NumaBinding, WhatTheUserHasSaidStays) {
  if (!may_set_memory_policy()) GTEST_SKIP() << "no right to place memory";
  ASSERT_TRUE(set_memory_policy(MPOL_BIND, 1));
  {
    const numa::MemoryFrom node(0);
    EXPECT_EQ(memory_policy(), std::pair(int{MPOL_BIND}, 1UL));
  }
  EXPECT_EQ(memory_policy(), std::pair(int{MPOL_BIND}, 1UL));
  ASSERT_TRUE(set_memory_policy(MPOL_DEFAULT, 0));
}

}  // namespace weft::test
