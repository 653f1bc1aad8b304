// The analytic models of the papers: Table II of communication-tuning against schedules that are counted,
// Table III of multi-gpu-fft-performance, the equations of both against their definitions, and where slabs
// and pencils are predicted to be equally fast on Summit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/analytic.hpp"
#include "support/expect_error.hpp"
#include "support/schedule_request.hpp"

namespace weft::test {

using namespace analytic;
using enum ReshapeType;

namespace {

constexpr std::array readings{Reading::cube_root, Reading::near_square};
constexpr std::array models{PhaseModel::exchanges, PhaseModel::table, PhaseModel::near_square,
                            PhaseModel::grids};
/// Six times powers of two, as in Table III.
constexpr std::array ladder{6, 12, 24, 48, 96, 192, 384, 768, 1536, 3072};

/// A shape that so many ranks cut evenly along each axis, on any grid: the formulas are exact there.
Shape even(int ranks) {
  return Shape(3, 2 * ranks);
}

/// A transform along these axes between two grids, so that its first reshape goes from one to the other.
std::vector<ReshapeCount> counts_between(const Grid& from, const Grid& to,
                                         const AxisVector<Transform>& transforms) {
  const int ranks = static_cast<int>(cells(from));
  return counted_messages(make_schedule(
      request_of(even(ranks), ranks, Distribution::grid(from), Distribution::grid(to), transforms)));
}

}  // namespace

TEST(Analytic, MessagesOfTableIIAsSchedulesHaveThem) {
  constexpr Transform c2c = Transform::c2c, none = Transform::none;
  for (const Reading reading : readings)
    for (const ReshapeType type : reshape_types)
      for (const int ranks : {1, 8, 27, 64}) {
        if (reading == Reading::near_square && ranks != 64 && ranks != 1) continue;
        const auto [from, to] = table_grids(type, reading, even(ranks), ranks);
        const auto formula = static_cast<Index>(table_partners(type, reading, ranks));
        EXPECT_EQ(partners(even(ranks), from, to), formula) << name_of(type) << " on " << ranks;
        EXPECT_EQ(partners(even(ranks), to, from), formula) << name_of(type) << " back on " << ranks;
        if (ranks == 1) continue;
        EXPECT_EQ(type_of(from, to), type);
        EXPECT_EQ(type_of(to, from), type);
        // What is transformed is whole on both sides, or on the side where it is transformed.
        AxisVector<Transform> transforms(3, none);
        for (int a = 0; a < 3; ++a)
          if (to[a] == 1) transforms[a] = c2c;
        const std::vector<ReshapeCount> counts = counts_between(from, to, transforms);
        ASSERT_EQ(counts.size(), 1u) << name_of(type) << " on " << ranks;
        EXPECT_EQ(counts[0].partners, formula) << name_of(type) << " on " << ranks;
      }
}

TEST(Analytic, GridsThatAreCutAlikeAreNoReshapeOfTheTable) {
  EXPECT_EQ(type_of({2, 2, 2}, {2, 2, 2}), std::nullopt);
  EXPECT_EQ(type_of({2, 2, 2}, {4, 2, 1}), brick_pencil);
  EXPECT_EQ(type_of({1, 1, 1}, {2, 1, 1}), std::nullopt);
}

TEST(Analytic, MessagesOfWholeTransformsBetweenBricks) {
  for (const int root : {2, 3, 4}) {
    const int ranks = root * root * root;
    ScheduleRequest r = request_of(even(ranks), ranks, Distribution::grid({root, root, root}),
                                   Distribution::grid({root, root, root}));
    r.decomposition = Decomposition::pencil;
    r.pencil_grid = {root, root * root};
    std::vector<Index> found;
    for (const ReshapeCount& c : counted_messages(make_schedule(r))) found.push_back(c.partners);
    // Between pencils, one reshape is along the shorter side of the grid: the table has P^2/3 for both.
    ASSERT_EQ(found.size(), 4u);
    EXPECT_EQ(found.front(), root);
    EXPECT_EQ(found.back(), root);
    std::sort(found.begin() + 1, found.end() - 1);
    EXPECT_EQ(found[1], root);
    EXPECT_EQ(found[2], root * root);
    r.decomposition = Decomposition::slab;
    r.pencil_grid = {};
    found.clear();
    for (const ReshapeCount& c : counted_messages(make_schedule(r))) found.push_back(c.partners);
    EXPECT_EQ(found, (std::vector<Index>{root * root, ranks, root * root}));
  }
}

TEST(Analytic, PartnersOfAnyGridsAreThoseOfTheSchedule) {
  for (const int ranks : {1, 2, 6, 7, 12, 48, 96, 384})
    for (const Shape& shape : {Shape{64, 64, 64}, Shape{30, 17, 51}})
      for (const Decomposition decomposition : {Decomposition::slab, Decomposition::pencil}) {
        ScheduleRequest r = request_of(shape, ranks, Distribution::brick(), Distribution::brick());
        r.decomposition = decomposition;
        const Schedule s = make_schedule(r);
        for (const ReshapeCount& c : counted_messages(s)) {
          const auto grid = [&](int field) {
            return *s.fields[static_cast<std::size_t>(field)].tiling->grid();
          };
          EXPECT_EQ(partners(shape, grid(c.stage), grid(c.stage + 1)), c.partners)
              << "stage " << c.stage << " on " << ranks << " of\n"
              << to_string(s);
          EXPECT_GE(c.messages, c.partners - 1);
          EXPECT_LE(c.messages, c.partners);
          EXPECT_EQ(c.messages == 0, c.sent_points == 0);
        }
      }
}

TEST(Analytic, GridsOfTableIII) {
  const std::array<std::array<AxisVector<int>, 2>, 10> rows{{{{{1, 2, 3}, {1, 2, 3}}},
                                                             {{{2, 2, 3}, {1, 3, 4}}},
                                                             {{{2, 3, 4}, {1, 4, 6}}},
                                                             {{{3, 4, 4}, {1, 6, 8}}},
                                                             {{{4, 4, 6}, {1, 8, 12}}},
                                                             {{{4, 6, 8}, {1, 12, 16}}},
                                                             {{{6, 8, 8}, {1, 16, 24}}},
                                                             {{{8, 8, 12}, {1, 24, 32}}},
                                                             {{{8, 12, 16}, {1, 32, 48}}},
                                                             {{{12, 16, 16}, {1, 48, 64}}}}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::array<Grid, 5> found = grid_sequence({512, 512, 512}, ladder.at(i));
    for (std::size_t g = 0; g < found.size(); ++g) {
      Grid sorted = found.at(g);
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(sorted, rows.at(i).at(g == 0 || g == 4 ? 0 : 1)) << ladder.at(i) << " ranks, grid " << g;
    }
    for (int axis = 0; axis < 3; ++axis) EXPECT_EQ(found.at(static_cast<std::size_t>(axis) + 1)[axis], 1);
  }
}

TEST(Analytic, BricksHaveTheLeastSurfaceOfAllGrids) {
  for (const Shape& shape : {Shape{512, 512, 512}, Shape{64, 256, 128}})
    for (const int ranks : {1, 6, 12, 48, 60}) {
      const double least = surface(shape, grid_sequence(shape, ranks)[0]);
      for (int a = 1; a <= ranks; ++a)
        for (int b = 1; a * b <= ranks; ++b) {
          if (ranks % (a * b) != 0) continue;
          EXPECT_LE(least, surface(shape, {a, b, ranks / (a * b)})) << ranks;
        }
    }
  EXPECT_EQ(surface({8, 8, 8}, {2, 2, 2}), 96);  // six faces of 4 x 4
}

TEST(Analytic, TimesOfExchangesAsTheirEquationsSay) {
  const double bytes = 16.0 * 512 * 512 * 512;
  const Link link{1e-6, 23.5e9};
  EXPECT_DOUBLE_EQ(slab_time(bytes, 24, link), 23 * (1e-6 + bytes / (23.5e9 * 24 * 24)));
  EXPECT_DOUBLE_EQ(pencil_time(bytes, 4, 6, link),
                   3 * (1e-6 + bytes / (23.5e9 * 4 * 24)) + 5 * (1e-6 + bytes / (23.5e9 * 6 * 24)));
  // A pencil grid with one row is slabs with an exchange of nothing.
  EXPECT_DOUBLE_EQ(pencil_time(bytes, 1, 24, link), slab_time(bytes, 24, link));
  EXPECT_EQ(slab_time(bytes, 1, link), 0);
  EXPECT_DOUBLE_EQ(sequence_time({24}, 24, bytes, link), slab_time(bytes, 24, link));
  EXPECT_DOUBLE_EQ(sequence_time({4, 6}, 24, bytes, link), pencil_time(bytes, 4, 6, link));
}

TEST(Analytic, BandwidthsAreThoseThatTheTimesWereMadeOf) {
  for (const int ranks : ladder) {
    const double bytes = 16.0 * 512 * 512 * 512;
    const Link link{1e-6, 4e9};
    const AxisVector<int> pq = near_square(ranks);
    EXPECT_NEAR(slab_bandwidth(bytes, ranks, slab_time(bytes, ranks, link), link.latency), 4e9, 1);
    EXPECT_NEAR(pencil_bandwidth(bytes, pq[0], pq[1], pencil_time(bytes, pq[0], pq[1], link), link.latency),
                4e9, 1);
  }
  expect_error([] { slab_bandwidth(1e9, 1, 1, 0); }, "two ranks at least");
  expect_error([] { slab_bandwidth(1e9, 1001, 1e-3, 1e-6); }, "more time than latency takes");
  expect_error([] { pencil_bandwidth(1e9, 1, 1, 1, 0); }, "two ranks at least");
  expect_error([] { pencil_bandwidth(1e9, 4, 4, 5e-6, 1e-6); }, "0.000005 s on 16 ranks");
}

TEST(Analytic, SlabsWinOnSummitBelow64NodesAt512Cubed) {
  for (const Link& link : {summit_practical, summit_theoretical})
    for (const int ranks : ladder)
      EXPECT_EQ(choose(PhaseModel::exchanges, 512, ranks, link).slabs_win(), ranks < 64 * summit_gpus)
          << ranks;
  const double ranks = tie(PhaseModel::exchanges, 512, summit_practical).value();
  EXPECT_GT(ranks, 32 * summit_gpus);
  EXPECT_LT(ranks, 64 * summit_gpus);
  // So do the models of whole transforms between bricks that count what slabs send.
  for (const PhaseModel model : {PhaseModel::near_square, PhaseModel::grids})
    for (const int n : ladder)
      EXPECT_EQ(choose(model, 512, n, summit_theoretical).slabs_win(), n < 64 * summit_gpus) << n;
}

TEST(Analytic, SlabsWinOnSummitUpTo384RanksAt1024Cubed) {
  for (const int ranks : ladder)
    EXPECT_EQ(choose(PhaseModel::near_square, 1024, ranks, summit_theoretical).slabs_win(), ranks <= 384)
        << ranks;
  const double ranks = tie(PhaseModel::near_square, 1024, summit_theoretical).value();
  EXPECT_GT(ranks, 384);
  EXPECT_LT(ranks, 768);
  // With Table II as printed, slabs send fewer messages and fewer bytes: they win as long as there are
  // planes.
  EXPECT_FALSE(tie(PhaseModel::table, 1024, summit_theoretical).has_value());
  EXPECT_TRUE(choose(PhaseModel::table, 1024, 1024, summit_theoretical).slabs_win());
  EXPECT_FALSE(choose(PhaseModel::table, 1024, 1025, summit_theoretical).slabs_win());
}

TEST(Analytic, TheTieIsWhereBothTakeEquallyLong) {
  const double ranks = tie(PhaseModel::exchanges, 1024, summit_practical).value();
  const double bytes = 16.0 * 1024 * 1024 * 1024, side = std::sqrt(ranks);
  const double slab = slab_time(bytes, ranks, summit_practical);
  EXPECT_NEAR(slab, pencil_time(bytes, side, side, summit_practical), 1e-9 * slab);
  EXPECT_FALSE(tie(PhaseModel::grids, 1024, summit_practical).has_value());
}

TEST(Analytic, CostsAreFiniteAndNeverFallWithASlowerLinkOrALargerArray) {
  for (const PhaseModel model : models)
    for (const int ranks : {2, 6, 7, 48, 384, 1000}) {
      const auto at_least = [&](const Choice& more, const Choice& less) {
        EXPECT_GE(more.slab_s, less.slab_s) << ranks;
        EXPECT_GE(more.pencil_s, less.pencil_s) << ranks;
      };
      for (Index n = 64; n <= 4096; n *= 2) {
        const Link link{1e-6, 1e9};
        const Choice here = choose(model, n, ranks, link);
        EXPECT_TRUE(std::isfinite(here.slab_s) && std::isfinite(here.pencil_s));
        EXPECT_GT(here.slab_s, 0);
        EXPECT_GT(here.pencil_s, 0);
        at_least(choose(model, n, ranks, {2e-6, 1e9}), here);
        at_least(choose(model, n, ranks, {1e-6, 0.9e9}), here);
        at_least(choose(model, n, ranks, link, 32), here);
        // Another length may line grids up better, and then has fewer messages.
        if (model != PhaseModel::grids) at_least(choose(model, n + 1, ranks, link), here);
      }
    }
}

TEST(Analytic, RooflineIsTheLowerOfBothRoofs) {
  const double points = 1024.0 * 1024 * 1024;
  const Roof wire = roofline(points, 4, 4, summit_node);
  EXPECT_EQ(wire.flops, 5 * points * 30);
  EXPECT_DOUBLE_EQ(wire.intensity, 150.0 / 64);
  EXPECT_DOUBLE_EQ(wire.flops_per_s, wire.intensity * 4 * 25e9);
  const Roof compute = roofline(points, 4, 1, {1e15, 40e12});
  EXPECT_DOUBLE_EQ(compute.flops_per_s, 160e12);
  EXPECT_DOUBLE_EQ(compute.compute_s, compute.flops / 160e12);
}

TEST(Analytic, TheCurveOfSummitIsTheRooflineOfFourReshapesInGigaflops) {
  for (const int nodes : {1, 4, 64, 1024})
    for (const double n : {64.0, 512.0, 1024.0}) {
      const double points = n * n * n;
      const double roof = roofline(points, nodes, 4, summit_node).flops_per_s / 1e9;
      EXPECT_NEAR(summit_curve(nodes, points) / roof, 1, 1e-4);  // 1.953 stands for 1.953125
    }
}

}  // namespace weft::test
