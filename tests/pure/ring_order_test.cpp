// In which order ranks turn to each other, on machines of any sizes.
#include "transport/ring_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>

namespace weft::test {

namespace {

/// Machines of so many ranks each; scattered: rank r is on machine r modulo their number.
std::vector<int> machines(int count, int each, bool scattered) {
  std::vector<int> nodes;
  for (int r = 0; r < count * each; ++r) nodes.push_back(scattered ? r % count : r / each);
  return nodes;
}

}  // namespace

TEST(RingOrder, HasEveryOtherRankOnceAndThoseOfTheOwnMachineLast) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::vector<int> nodes(1 + random() % 20);
    for (int& node : nodes) node = static_cast<int>(random() % (1 + nodes.size() / 2)) * 3;
    for (int rank = 0; rank < static_cast<int>(nodes.size()); ++rank) {
      const std::vector<int> order = ring_order(nodes, rank);
      std::set<int> all(order.begin(), order.end());
      all.insert(rank);
      ASSERT_EQ(all.size(), nodes.size());
      ASSERT_EQ(order.size(), nodes.size() - 1);
      const auto near = [&](int peer) { return nodes[peer] == nodes[rank]; };
      ASSERT_TRUE(std::is_partitioned(order.begin(), order.end(), [&](int peer) { return !near(peer); }));
    }
  }
}

TEST(RingOrder, MeetsNobodyOnMachinesOfOneSize) {
  for (const bool scattered : {false, true})
    for (int count = 1; count <= 9; ++count)
      for (int each = 1; each <= 6; ++each) {
        const std::vector<int> nodes = machines(count, each, scattered);
        std::vector<std::vector<int>> orders;
        for (std::size_t r = 0; r < nodes.size(); ++r)
          orders.push_back(ring_order(nodes, static_cast<int>(r)));
        for (std::size_t step = 0; step + 1 < nodes.size(); ++step) {
          std::set<int> targets;
          std::set<std::pair<int, int>> links;  // from machine to machine
          for (std::size_t r = 0; r < nodes.size(); ++r) {
            targets.insert(orders[r][step]);
            links.emplace(nodes[r], nodes[orders[r][step]]);
          }
          ASSERT_EQ(targets.size(), nodes.size()) << count << " machines of " << each << ", step " << step;
          const bool among_machines = step < nodes.size() - static_cast<std::size_t>(each);
          if (!among_machines || each >= count) continue;
          ASSERT_EQ(links.size(), nodes.size()) << count << " machines of " << each << ", step " << step;
        }
      }
}

TEST(RingOrder, OfTwoRanksOnEachOfThreeMachines) {
  const std::vector<int> nodes = machines(3, 2, false);
  EXPECT_EQ(ring_order(nodes, 0), (std::vector<int>{2, 3, 4, 5, 1}));
  EXPECT_EQ(ring_order(nodes, 1), (std::vector<int>{5, 4, 3, 2, 0}));
  EXPECT_EQ(ring_order(nodes, 2), (std::vector<int>{4, 5, 0, 1, 3}));
}

}  // namespace weft::test
