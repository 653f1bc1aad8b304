// Which name is suggested for one that does not exist.
#include "base/nearest_name.hpp"

#include <gtest/gtest.h>

namespace weft::test {

namespace {
const std::vector<std::string> names{"exchange", "tile", "items", "px", "pz", "window"};
}

TEST(NearestName, EveryKindOfTypingMistakeCountsOne) {
  for (const char* typed : {"exchang", "exchangee", "exchanke", "exchagne", "EXCHANGE"})
    EXPECT_EQ(nearest_name(typed, names), "exchange") << typed;
  EXPECT_EQ(nearest_name("exhcagne", names), "exchange");  // two exchanges
}

TEST(NearestName, TheNearerOneWinsAndOfEquallyNearOnesTheFirst) {
  EXPECT_EQ(nearest_name("tiles", names), "tile");
  EXPECT_EQ(nearest_name("item", names), "items");
  EXPECT_EQ(nearest_name("pxz", names), "px");
}

TEST(NearestName, WhatIsFarFromAllHasNone) {
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("?", names), "");
  EXPECT_EQ(nearest_name("py", names), "");
  EXPECT_EQ(nearest_name("colour", names), "");
  EXPECT_EQ(nearest_name("windwos", {}), "");
}

TEST(NearestName, EndsTheListOfNames) {
  EXPECT_EQ(one_of({"a", "window"}, "windwo"), "one of a, window; the nearest is window");
  EXPECT_EQ(one_of({"a", "window"}, "z"), "one of a, window");
}

}  // namespace weft::test
