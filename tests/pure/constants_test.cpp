// Machine constants: as a map and back, and what may come out of measuring them. Nothing about time.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/cache.hpp"
#include "base/test_hook.hpp"
#include "tune/constants.hpp"

namespace weft::test {

TEST(MachineConstants, SurviveBeingAMap) {
  MachineConstants c;
  c.subtile = 64 << 10;
  c.store_past_from = 0.5;
  c.two_passes_from = 8;
  EXPECT_EQ(MachineConstants::from_map(c.to_map()), c);
  EXPECT_EQ(c.to_map().size(), 3u);
}

TEST(MachineConstants, NamesMayBeMissingOrUnknownAndValuesNonsense) {
  EXPECT_EQ(MachineConstants::from_map({}), MachineConstants{});
  EXPECT_EQ(MachineConstants::from_map({{"subtile", 65536}, {"from_the_future", 3}}).subtile, 65536);
  for (const double value : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_EQ(MachineConstants::from_map(
                  {{"subtile", value}, {"store_past_from", value}, {"two_passes_from", value}}),
              MachineConstants{});
}

TEST(MachineConstants, MeasuredOnesAreNearTheDefaults) {
  for (const Index cache : {Index{64} << 10, Index{512} << 10}) {
    const ScopedSwitch second_cache(detail::pretended_second_cache, cache);
    const MachineConstants c = measure_constants();
    EXPECT_GE(c.subtile, 32 << 10);
    EXPECT_LE(c.subtile, 512 << 10);
    EXPECT_EQ(c.store_past_from, MachineConstants{}.store_past_from);
    EXPECT_GE(c.two_passes_from, 8);
    EXPECT_LE(c.two_passes_from, 32);
  }
}

}  // namespace weft::test
