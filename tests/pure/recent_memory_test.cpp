// What a rank has touched last, beside a search of all that it has touched.
#include <gtest/gtest.h>

#include <random>

#include "model/recent_memory.hpp"

namespace weft::test {

TEST(RecentMemory, KnowsWhatWasTouchedLast) {
  struct Touched {
    Space space;
    Box box;
    double bytes;
  };
  std::mt19937_64 random(3);
  const auto below = [&](Index n) { return static_cast<Index>(random() % static_cast<std::uint64_t>(n)); };
  const auto drawn = [&](bool part) {  // a part of the columns, or any box
    Box box{{0, 0, 0}, {16, 64, 8}};
    for (int a = part ? 1 : 0; a < (part ? 2 : 3); ++a) {
      box.lo[a] = below(box.hi[a]);
      box.hi[a] = box.lo[a] + 1 + below(part ? 2 : box.hi[a] - box.lo[a]);
    }
    return box;
  };
  int near = 0, far_away = 0;
  for (const double cache : {500.0, 20'000.0, 1e6}) {
    RecentMemory memory(cache);
    std::vector<Touched> all;
    for (int i = 0; i < 3000; ++i) {
      const Space space = below(2) == 0 ? Space::input : Space::work;
      const Box box = drawn(below(4) > 0);
      double expected = 1e9, through = 0;
      for (auto t = all.rbegin(); t != all.rend() && through < cache; ++t) {
        through += t->bytes;
        if (t->space != space || 2 * intersect(t->box, box).count() < box.count()) continue;
        expected = through;
        break;
      }
      ASSERT_EQ(memory.distance(space, box, 1e9), expected) << i << " " << to_string(box);
      (expected < 1e9 ? near : far_away) += 1;
      const auto bytes = static_cast<double>(1 + below(200));
      memory.touch(space, box, bytes);
      all.push_back({space, box, bytes});
    }
  }
  EXPECT_GT(near, 1000);
  EXPECT_GT(far_away, 1000);
}

}  // namespace weft::test
