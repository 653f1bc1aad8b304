// What ranks of a machine gather for another one: who owns a slot, where everybody's parts are, and how many
// messages are left of those between ranks.
#include "transport/node/slots.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "support/described_machine.hpp"
#include "traffic.hpp"

namespace weft::test {

TEST(NodeSlots, NumberMachinesAsTheyCome) {
  EXPECT_EQ(numbered({5, 5, 0, 7, 0}), (std::vector<int>{0, 0, 1, 2, 1}));
}

TEST(NodeSlots, HoldTheirPartsOneBehindTheOther) {
  std::mt19937 random(11);
  for (int i = 0; i < 200; ++i) {
    const int ranks = 1 + static_cast<int>(random() % 5), tiles = 1 + static_cast<int>(random() % 3),
              machines = 1 + static_cast<int>(random() % 4), rails = 1 + static_cast<int>(random() % 3);
    NodeTraffic traffic(ranks, tiles, machines, rails);
    for (Index& bytes : traffic.numbers())
      bytes = random() % 3 == 0 ? 0 : 8 * static_cast<Index>(random() % 40);
    std::vector<NodeSlots> of;
    for (int r = 0; r < ranks; ++r) of.push_back(node_slots(traffic, ranks, r));
    struct Seen {
      NodeSlot slot;
      Index bytes = 0;
      int ranks = 0;
      bool owner_has_parts = false;
    };
    std::map<std::tuple<int, int, int, bool>, Seen> seen;
    for (int r = 0; r < ranks; ++r)
      for (const NodeSlot& s : at(of, r).slots) {
        Seen& all = seen.try_emplace({s.tile, s.machine, s.rail, s.sends}, Seen{s}).first->second;
        ASSERT_EQ(std::tie(s.owner, s.ranks, s.bytes, s.flags, s.data),
                  std::tie(all.slot.owner, all.slot.ranks, all.slot.bytes, all.slot.flags, all.slot.data));
        ASSERT_EQ(s.first, all.bytes);  // ranks come in their order
        all.bytes += traffic.of(r, s.sends, s.tile, s.machine, s.rail);
        ++all.ranks;
        all.owner_has_parts = all.owner_has_parts || s.owner == r;
      }
    std::map<int, Index> end;  // of every owner's memory
    for (const auto& [which, all] : seen) {
      ASSERT_EQ(all.bytes, all.slot.bytes);
      ASSERT_EQ(all.ranks, all.slot.ranks);
      ASSERT_TRUE(all.owner_has_parts);
      ASSERT_EQ(all.slot.flags % 64, 0);
      ASSERT_EQ(all.slot.data, all.slot.flags + slot_flags_bytes);
    }
    for (const auto& [a, one] : seen)  // nothing lies over anything else
      for (const auto& [b, two] : seen)
        if (a != b && one.slot.owner == two.slot.owner && one.slot.flags <= two.slot.flags) {
          ASSERT_LE(one.slot.data + one.slot.bytes, two.slot.flags);
        }
    for (const auto& [which, all] : seen)
      ASSERT_LE(all.slot.data + all.slot.bytes, at(of, all.slot.owner).bytes);
  }
}

TEST(NodeSlots, RanksOfAMachineAreSharedOutAmongRails) {
  const NodeRails four({0, 0, 0, 0, 1, 1, 1, 1}, 2);
  for (const int receiver : {4, 5}) {
    std::vector<int> ranks(2);
    for (int sender = 0; sender < 4; ++sender) {
      ++at(ranks, four.between(sender, receiver));
      EXPECT_EQ(four.between(sender, receiver), four.between(sender, 4)) << "all for one machine together";
    }
    EXPECT_EQ(ranks, (std::vector<int>{2, 2}));
  }
  const NodeRails alone({0, 1, 2}, 2);
  EXPECT_NE(alone.between(0, 1), alone.between(0, 2));
}

TEST(NodeSlots, AreSharedOutAmongTheRanksOfAMachine) {
  constexpr int ranks = 4, machines = 4, own = 1;
  NodeTraffic traffic(ranks, 1, machines);
  for (int r = 0; r < ranks; ++r)
    for (int m = 0; m < machines; ++m)
      for (const bool sends : {true, false}) traffic.of(r, sends, 0, m) = m == own ? 0 : 64;
  std::set<int> owners;
  for (const NodeSlot& s : node_slots(traffic, ranks, 0).slots)
    if (s.sends) owners.insert(s.owner);
  EXPECT_EQ(owners.size(), machines - 1U);
}

namespace {

/// Of all ranks.
Index messages(DescribedPlan plan, const char* exchange, int rails = 1) {
  plan.options.set("exchange", exchange);
  const Design d = plan.design_on(described_machine());
  Index all = 0;
  for (int r = 0; r < plan.ranks; ++r)
    all += bench::messages_between_machines(d, plan.direction, plan.nodes(), r, rails);
  return all;
}

}  // namespace

TEST(NodeSlots, LeaveASixteenthOfTheMessagesOfFourRanksOnEachMachine) {
  DescribedPlan plan;
  plan.ranks = 16;
  plan.per_node = 4;
  for (const Index n : {32, 64})
    for (const char* pipeline : {"sequential", "windowed", "two-front"})
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        plan.shape = {n, n, n};
        plan.options = Options().set("pipeline", pipeline);
        if (pipeline != std::string("sequential")) plan.options.set("tile", 1);
        plan.direction = direction;
        const Index of_machines = messages(plan, "node");
        EXPECT_EQ(messages(plan, "direct"), 16 * of_machines) << pipeline;
        EXPECT_EQ(messages(plan, "p2p"), 16 * of_machines) << pipeline;
        if (pipeline == std::string("sequential")) {
          EXPECT_EQ(of_machines, 4 * 3);
          EXPECT_EQ(messages(plan, "node", 2), 2 * of_machines);
        }
      }
}

}  // namespace weft::test
