#include <gtest/gtest.h>

#include <numeric>

#include "geometry/grid.hpp"
#include "geometry/layout.hpp"
#include "geometry/tiling.hpp"
#include "support/expect_error.hpp"
#include "support/random_problem.hpp"

namespace weft::test {

TEST(Split, CoversTheAxisEvenlyAndPartOfInvertsIt) {
  for (Index n : {1, 2, 3, 7, 16, 97, 128})
    for (int parts : {1, 2, 3, 4, 7, 16, 128, 200}) {
      Index position = 0, most = 0, least = n;
      for (int i = 0; i < parts; ++i) {
        const Range r = split(n, parts, i);
        ASSERT_EQ(r.lo, position);
        for (Index x = r.lo; x < r.hi; ++x) ASSERT_EQ(part_of(n, parts, x), i) << n << " " << parts;
        position = r.hi;
        most = std::max(most, r.hi - r.lo);
        least = std::min(least, r.hi - r.lo);
      }
      EXPECT_EQ(position, n);
      EXPECT_LE(most - least, 1);
    }
}

TEST(Layout, StridesFollowTheOrder) {
  EXPECT_EQ(dense_strides({4, 5, 6}, {0, 1, 2}), (Strides{30, 6, 1}));
  EXPECT_EQ(dense_strides({4, 5, 6}, {2, 1, 0}), (Strides{1, 4, 20}));
  EXPECT_EQ(dense_strides({4, 5, 6}, {1, 2, 0}), (Strides{1, 24, 4}));
  EXPECT_EQ(span_of({4, 5, 6}, {30, 6, 1}), 120);
  EXPECT_EQ(span_of({2, 1, 3}, {40, 7, 2}), 45);
  EXPECT_EQ(span_of({2, 0, 3}, {40, 7, 2}), 0);
  EXPECT_EQ(axes_last({2, 0, 1, 3}, {0, 2}), (Order{1, 3, 2, 0}));
  EXPECT_EQ(axis_first({2, 0, 1}, 1), (Order{1, 2, 0}));
}

TEST(Tiling, GridAndBoxesAnswerAlike) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Shape shape{static_cast<Index>(1 + seed % 13), static_cast<Index>(1 + seed % 7),
                      static_cast<Index>(1 + seed % 11)};
    const Grid grid{static_cast<int>(1 + seed % 3), static_cast<int>(1 + seed % 4),
                    static_cast<int>(1 + seed % 2)};
    const int ranks = static_cast<int>(cells(grid)) + static_cast<int>(seed % 3);
    const Tiling regular = Tiling::from_grid(shape, grid, ranks);
    std::vector<Box> boxes;
    for (int r = 0; r < ranks; ++r) boxes.push_back(regular.box(r));
    check_tiling("input", shape, boxes, "");
    const std::vector<Box> others = random_tiling(seed, shape, ranks);
    check_tiling("input", shape, others, "");
    const Tiling scan = Tiling::from_boxes(shape, others);
    for (int r = 0; r < ranks; ++r) {
      // From either side of every pair the common part is the same, and it is what the boxes have in common.
      Index covered = 0;
      for (const Overlap& o : regular.overlaps(scan.box(r))) {
        ASSERT_EQ(o.box, intersect(regular.box(o.rank), scan.box(r)));
        ASSERT_FALSE(o.box.empty());
        covered += o.box.count();
      }
      ASSERT_EQ(covered, scan.box(r).count());
      ASSERT_EQ(regular.count_overlaps(scan.box(r)), std::ssize(regular.overlaps(scan.box(r))));
      ASSERT_EQ(scan.count_overlaps(regular.box(r)), std::ssize(scan.overlaps(regular.box(r))));
      Index back = 0;
      for (const Overlap& o : scan.overlaps(regular.box(r))) back += o.box.count();
      ASSERT_EQ(back, regular.box(r).count());
    }
  }
}

TEST(Tiling, RecognisesEvenSplits) {
  const Shape shape{8, 8, 8};
  const Tiling grid = Tiling::from_grid(shape, {2, 1, 2}, 4);
  std::vector<Box> boxes;
  for (int r = 0; r < 4; ++r) boxes.push_back(grid.box(r));
  EXPECT_TRUE(Tiling::from_boxes(shape, boxes).grid().has_value());
  EXPECT_EQ(Tiling::from_boxes(shape, boxes).name(), "pencil 2x1x2");
  std::swap(boxes[0], boxes[1]);
  EXPECT_FALSE(Tiling::from_boxes(shape, boxes).grid().has_value());
}

TEST(Tiling, RefusesWhatDoesNotTile) {
  const Shape shape{4, 4};
  const auto box = [](Index a, Index b, Index c, Index d) { return Box{{a, b}, {c, d}}; };
  const std::vector<Box> good{box(0, 0, 2, 4), box(2, 0, 4, 4)};
  EXPECT_NO_THROW(check_tiling("input", shape, good, ""));
  const auto refuses = [&](std::vector<Box> boxes, const char* text) {
    expect_error([&] { check_tiling("input", shape, boxes, ""); }, text);
  };
  refuses({box(0, 0, 3, 4), box(2, 0, 4, 4)}, "ranks 0 and 1 both hold [2:3, 0:4)");
  refuses({box(0, 0, 2, 4), box(2, 0, 4, 3)}, "cover 14 of 16 points");
  refuses({box(0, 0, 2, 4), box(2, 0, 5, 4)}, "inside the array [0:4, 0:4)");
  refuses({box(0, 0, 2, 4), box(-1, 0, 4, 4)}, "inside the array");
  refuses({box(0, 0, 2, 4), box(4, 0, 2, 4)}, "lo <= hi");
  refuses({Box{{0}, {4}}, box(2, 0, 4, 4)}, "2 axes");
}

TEST(MinSurface, PrefersCubesAndBusyRanks) {
  EXPECT_EQ(min_surface_grid({64, 64, 64}, 8, {0, 1, 2}), (Grid{2, 2, 2}));
  EXPECT_EQ(min_surface_grid({256, 16, 16}, 4, {0, 1, 2}), (Grid{4, 1, 1}));
  EXPECT_EQ(min_surface_grid({2, 64, 64}, 4, {0, 1, 2}), (Grid{1, 2, 2}));
  EXPECT_EQ(near_square(12), (AxisVector<int>{3, 4}));
  EXPECT_EQ(near_square(13), (AxisVector<int>{1, 13}));
}

}  // namespace weft::test
