// What pipelines make of their parameters, and which they refuse.
#include <gtest/gtest.h>

#include "support/built.hpp"
#include "support/expect_error.hpp"

namespace weft::test {

TEST(Pipeline, CutsABatchBetweenItemsOrEachItem) {
  const auto chosen = [](Index items, const PipelineParameters& values, const Shape& shape = {16, 16, 16}) {
    const Schedule s = batch_of(items, shape, 4, Distribution::slab(0), Distribution::slab(1));
    return choose_pipeline(s, find_pipeline("windowed"), values).front();
  };
  struct Expected {
    Index items;
    PipelineParameters values;
    bool each_item;
    Index tile;
    int tiles;
  };
  for (const Expected& e :
       {Expected{2, {}, true, 4, 8}, Expected{3, {}, true, 6, 9}, Expected{6, {}, false, 1, 6},
        Expected{20, {}, false, 3, 7}, Expected{20, {{"tile", 8}}, true, 8, 40},
        Expected{20, {{"items", 1}}, false, 1, 20}, Expected{2, {{"items", 2}}, false, 2, 1},
        Expected{2, {{"items", 1}, {"tile", 16}}, false, 1, 2},
        Expected{5, {{"items", 2}, {"tile", 3}}, false, 2, 3}}) {
    const Leg c = chosen(e.items, e.values);
    EXPECT_EQ(c.item_axis(), e.each_item ? 3 : -1) << to_string(c);
    EXPECT_EQ(c.axis, e.each_item ? 2 : 3) << to_string(c);
    EXPECT_EQ(c.tile, e.tile) << to_string(c);
    EXPECT_EQ(c.tiles, e.tiles) << to_string(c);
  }
  EXPECT_EQ(chosen(2, {}).axis_name, "axis 2 of each item of the batch");
  EXPECT_EQ(chosen(2, {}, {16, 16}).axis_name, "the batch");
  expect_error([&] { chosen(2, {{"items", 3}}); }, "at most 2, the items on a rank");
  EXPECT_EQ(chosen(4, {{"tile", 3}}, {16, 16}).tile, 1);  // there is nothing else to cut
  const Schedule one = schedule_of({8, 8, 8}, 2, Distribution::slab(0), Distribution::slab(1));
  expect_error([&] { choose_pipeline(one, find_pipeline("windowed"), {{"items", 2}}); }, "there is no batch");
}

TEST(Pipeline, RefusesParametersItDoesNotHave) {
  const Schedule s = schedule_of({8, 8, 8}, 2, Distribution::slab(0), Distribution::slab(1));
  expect_error(
      [&] {
        choose_pipeline(s, find_pipeline("sequential"), {{"tile", 3}});
      },
      "no such option with pipeline sequential");
  expect_error([&] { choose_pipeline(s, find_pipeline("windowed"), {{"window", 0}}); }, "1 to");
  expect_error([&] { choose_pipeline(s, find_pipeline("windowed"), {{"tile", -1}}); }, "0 to");
  expect_error(
      [&] {
        choose_pipeline(s, find_pipeline("windowed"), {{"tile", 9}});
      },
      "at most 8, the largest");
  EXPECT_EQ(choose_pipeline(s, find_pipeline("windowed"), {{"tile", 2}, {"window", 50}})[0].window, 4);
  expect_error(
      [&] {
        choose_pipeline(s, find_pipeline("windowed"), {{"tile", 2}, {"pz", 3}});
      },
      "at most 2, the thickness");
  expect_error(
      [&] {
        choose_pipeline(s, find_pipeline("windowed"), {{"tile", std::vector<Index>{2, 3}}});
      },
      "one per reshape, of which there are 1");
  expect_error([] { find_pipeline("fast"); }, "auto, sequential, th, windowed");
}

}  // namespace weft::test
