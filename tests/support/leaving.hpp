// Ranks that give numbers to a late maximum, each as often as it likes, and leave.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "comm/comm_impl.hpp"
#include "weft/comm.hpp"

namespace weft::test {

/// Every rank has the maximum of all rounds to which all ranks gave, and in the next one, if it gives to
/// that, hears that a rank has left. Collective.
inline void give_and_leave(const Comm& comm, unsigned seed) {
  constexpr int most = 6;
  std::mt19937 random(seed);
  std::vector<int> rounds;
  for (int r = 0; r < comm.size(); ++r) rounds.push_back(static_cast<int>(random() % most));
  const int all_give = *std::min_element(rounds.begin(), rounds.end());
  random.seed(seed * 100 + static_cast<unsigned>(comm.rank()));
  const std::unique_ptr<LateMaximum> late = comm.impl().late_maximum();
  bool unread = false;
  const auto read = [&](int round) {
    comm.impl().wait_for(*late);
    unread = false;
    ASSERT_EQ(late->is_last(), round >= all_give) << round;
    if (late->is_last()) return;
    ASSERT_EQ(late->maximum().back(), comm.size() + round);
  };
  for (int i = 0; i < rounds[static_cast<std::size_t>(comm.rank())]; ++i) {
    if (unread) read(i - 1);
    if (i > all_give) break;
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    LateMaximum::Numbers mine{};
    mine.front() = -1;
    mine.back() = comm.rank() + 1 + i;
    late->give(mine);
    unread = true;
  }
  if (unread && random() % 2 == 0)
    read(std::min(rounds[static_cast<std::size_t>(comm.rank())] - 1, all_give));
  if (random() % 2 == 0) late->leave();
}

}  // namespace weft::test
