// Schedules, among them the grids of multi-gpu-fft-performance (Table III) and the message counts of
// communication-tuning (Table II), in both of its readings (the paper's P^1/3 x P^2/3 pencils and near-square
// ones).
#include <gtest/gtest.h>

#include <algorithm>

#include "geometry/layout.hpp"
#include "schedule/planner.hpp"
#include "support/expect_error.hpp"
#include "support/random_problem.hpp"
#include "support/schedule_request.hpp"

namespace weft::test {

namespace {

constexpr Transform c2c = Transform::c2c, r2c = Transform::r2c, none = Transform::none;

ScheduleRequest request(const Shape& shape, int ranks, const Distribution& in, const Distribution& out,
                        Decomposition decomposition = Decomposition::automatic,
                        AxisVector<Transform> transforms = {}) {
  ScheduleRequest r = request_of(shape, ranks, in, out, transforms);
  r.decomposition = decomposition;
  return r;
}

std::vector<int> sorted(const Grid& g) {
  std::vector<int> v(g.begin(), g.end());
  std::sort(v.begin(), v.end());
  return v;
}

/// The grids of the fields between which data move.
std::vector<Grid> grids(const Schedule& s) {
  std::vector<Grid> result{*s.fields.front().tiling->grid()};
  for (std::size_t i = 0; i < s.stages.size(); ++i)
    if (s.stages[i].kind == Stage::Kind::reshape) result.push_back(*s.fields[i + 1].tiling->grid());
  return result;
}

std::vector<int> fft_axes(const Schedule& s) {
  std::vector<int> counts;
  for (const Stage& stage : s.stages)
    if (stage.kind == Stage::Kind::fft) counts.push_back(stage.axes.size());
  return counts;
}

}  // namespace

TEST(Schedule, BrickToBrickPencilsHaveTheGridsOfTableIII) {
  const std::vector<std::pair<int, std::vector<std::vector<int>>>> rows{
      {6, {{1, 2, 3}, {1, 2, 3}}},        {12, {{2, 2, 3}, {1, 3, 4}}},
      {24, {{2, 3, 4}, {1, 4, 6}}},       {48, {{3, 4, 4}, {1, 6, 8}}},
      {96, {{4, 4, 6}, {1, 8, 12}}},      {192, {{4, 6, 8}, {1, 12, 16}}},
      {384, {{6, 8, 8}, {1, 16, 24}}},    {768, {{8, 8, 12}, {1, 24, 32}}},
      {1536, {{8, 12, 16}, {1, 32, 48}}}, {3072, {{12, 16, 16}, {1, 48, 64}}},
  };
  for (const auto& [ranks, expected] : rows) {
    const Schedule s = make_schedule(
        request({512, 512, 512}, ranks, Distribution::brick(), Distribution::brick(), Decomposition::pencil));
    std::vector<Grid> g = grids(s);
    EXPECT_EQ(sorted(g.front()), expected[0]) << ranks;
    EXPECT_EQ(sorted(g.back()), expected[0]) << ranks;
    // On 6 ranks the bricks are pencils already, and one reshape fewer is needed than in the paper.
    ASSERT_EQ(g.size(), ranks == 6 ? 4u : 5u) << ranks;
    for (std::size_t i = 1; i + 1 < g.size(); ++i) EXPECT_EQ(sorted(g[i]), expected[1]) << ranks;
    EXPECT_EQ(fft_axes(s), (std::vector<int>{1, 1, 1}));
  }
}

TEST(Schedule, MessageCountsOfTableII) {
  const int root = 8, ranks = root * root * root;
  const Shape shape{512, 512, 512};
  const auto tiling = [&](const Grid& g) { return Tiling::from_grid(shape, g, ranks); };
  const Tiling brick = tiling({root, root, root}), slab = tiling({1, 1, ranks}),
               other_slab = tiling({ranks, 1, 1});
  // With this rank, itself included, as the paper counts.
  const auto messages = [&](const Tiling& a, const Tiling& b) {
    return traffic(a, b, 0).messages + (intersect(a.box(0), b.box(0)).empty() ? 0 : 1);
  };
  const Tiling x = tiling({1, root, root * root}), y = tiling({root, 1, root * root});
  const Tiling long_y = tiling({root * root, 1, root});
  EXPECT_EQ(messages(brick, tiling({1, root, root * root})), root);  // brick - pencil: P^1/3
  EXPECT_EQ(messages(brick, slab), root * root * 1);                 // brick - slab: P^2/3
  EXPECT_EQ(messages(x, long_y), root * root);                       // pencil - pencil: P^2/3
  EXPECT_EQ(messages(x, y), root);                                   // along the short side
  EXPECT_EQ(messages(slab, other_slab), ranks);                      // slab - slab: P
  // Near-square pencils: sqrt(P) messages.
  const Tiling near = Tiling::from_grid(shape, {1, 16, 16}, 256),
               next = Tiling::from_grid(shape, {16, 1, 16}, 256);
  EXPECT_EQ(traffic(near, next, 0).messages + 1, 16);
}

TEST(Schedule, SlabsNeedOneReshapeTransposedAndTwoNatural) {
  const auto slab = [](int a) { return Distribution::slab(a); };
  const Schedule transposed = make_schedule(request({64, 64, 64}, 4, slab(0), slab(1)));
  EXPECT_EQ(reshapes(transposed), 1);
  EXPECT_EQ(fft_axes(transposed), (std::vector<int>{2, 1}));
  const Schedule natural = make_schedule(request({64, 64, 64}, 4, slab(0), slab(0)));
  EXPECT_EQ(reshapes(natural), 2);
  const Schedule bricks =
      make_schedule(request({64, 64, 64}, 8, Distribution::brick(), Distribution::brick()));
  EXPECT_EQ(reshapes(bricks), 3);
  const Schedule free =
      make_schedule(request({64, 64, 64}, 4, Distribution::fastest(), Distribution::fastest()));
  EXPECT_EQ(reshapes(free), 1);
}

TEST(Schedule, AutoTakesPencilsOnceSlabsWouldLeaveRanksIdle) {
  const auto pencil = [](int a) { return Distribution::pencil(a); };
  EXPECT_EQ(reshapes(make_schedule(request({64, 64, 64}, 64, pencil(2), pencil(0)))), 2);
  const Schedule s = make_schedule(request({64, 64, 64}, 256, pencil(2), pencil(0)));
  EXPECT_EQ(reshapes(s), 2);
  for (const Field& f : s.fields) EXPECT_EQ(f.tiling->idle_ranks(), 0);
  EXPECT_EQ(fft_axes(s), (std::vector<int>{1, 1, 1}));
  const std::vector<Grid> forced =
      grids(make_schedule(request({64, 64, 64}, 16, pencil(2), pencil(0), Decomposition::slab)));
  ASSERT_GT(forced.size(), 2u);
  for (std::size_t i = 1; i + 1 < forced.size(); ++i) EXPECT_EQ(cut_axes(forced[i]), 1);
}

TEST(Schedule, IsExplainedInWords) {
  const auto reason = [](Index n, int ranks, Decomposition decomposition, int computing = 0) {
    ScheduleRequest r =
        request({n, n, n}, ranks, Distribution::pencil(2), Distribution::pencil(0), decomposition);
    r.computing_ranks = computing;
    return make_schedule(r).reason;
  };
  using enum Decomposition;
  EXPECT_EQ(reason(64, 4, automatic),
            "auto: 2 reshapes, the fewest that keep the ranks busy; every rank busy");
  EXPECT_EQ(reason(64, 64, brick),
            "brick: 4 reshapes, as asked for; 2 of the fields are bricks; every rank busy");
  EXPECT_TRUE(says(reason(64, 1, brick), "no grid of bricks differs from the grids before and after it; "));
  EXPECT_EQ(reason(8, 12, slab),
            "slab: 2 reshapes, as asked for; 4 ranks without points between input and output");
  EXPECT_TRUE(says(reason(64, 12, pencil, 3), "; shrunk to 3 ranks; 9 ranks without points "));
}

TEST(Schedule, PencilGridsFitTheShape) {
  const auto most_idle = [](const Schedule& s) {
    int idle = 0;
    for (std::size_t i = 1; i + 1 < s.fields.size(); ++i)
      idle = std::max(idle, s.fields[i].tiling->idle_ranks());
    return idle;
  };
  const auto brick = Distribution::brick();
  // Near-square would be 8 x 16, which leaves half of the ranks idle where axis 0 is cut.
  EXPECT_EQ(most_idle(make_schedule(request({4, 64, 64}, 128, brick, brick))), 0);
  // One rank of 256 without points is no reason for a fourth reshape.
  EXPECT_EQ(reshapes(make_schedule(request({255, 255, 255}, 256, brick, brick))), 3);
  // Where the input is free, it starts where the output needs no detour.
  const Schedule s = make_schedule(request({12, 28}, 19, Distribution::fastest(), Distribution::slab(0),
                                           Decomposition::automatic, {c2c, r2c}));
  EXPECT_EQ(reshapes(s), 2);
}

TEST(Schedule, OneRankIsOneTransformR2cIncluded) {
  for (const Order& order : {Order{0, 1, 2}, Order{2, 1, 0}, Order{1, 2, 0}}) {
    ScheduleRequest r = request({8, 9, 10}, 1, Distribution::slab(0), Distribution::slab(0),
                                Decomposition::automatic, {c2c, r2c, c2c});
    r.input_orders = r.output_orders = {order};
    const Schedule s = make_schedule(r);
    ASSERT_EQ(s.stages.size(), 1u);
    EXPECT_EQ(s.stages[0].axes, (AxisVector<int>{0, 1, 2}));
    EXPECT_EQ(s.stages[0].real_axis, 1);
  }
}

TEST(Schedule, R2cComesFirstAndMergesWithItsNeighbours) {
  const Schedule s = make_schedule(request({32, 32, 32}, 4, Distribution::slab(0), Distribution::slab(1),
                                           Decomposition::automatic, {c2c, c2c, r2c}));
  ASSERT_EQ(s.stages.size(), 3u);
  EXPECT_EQ(s.stages[0].axes, (AxisVector<int>{1, 2}));
  EXPECT_EQ(s.stages[0].real_axis, 2);
  EXPECT_EQ(s.fields[1].shape, (Shape{32, 32, 17}));
  // The input is cut along the r2c axis: real data are reshaped once, before anything is transformed.
  const Schedule cut = make_schedule(request({32, 32, 32}, 4, Distribution::slab(2), Distribution::slab(1),
                                             Decomposition::automatic, {c2c, c2c, r2c}));
  EXPECT_EQ(cut.stages[0].kind, Stage::Kind::reshape);
  EXPECT_EQ(cut.fields[1].element, Element::real);
  EXPECT_EQ(cut.stages[1].real_axis, 2);
}

TEST(Schedule, AxesLeftAloneNeedNoReshape) {
  const Schedule s = make_schedule(request({16, 16, 16}, 4, Distribution::slab(0), Distribution::slab(0),
                                           Decomposition::automatic, {none, c2c, c2c}));
  EXPECT_EQ(reshapes(s), 0);
  const Schedule nothing = make_schedule(request({16, 16}, 4, Distribution::slab(0), Distribution::slab(0),
                                                 Decomposition::automatic, {none, none}));
  ASSERT_EQ(nothing.stages.size(), 1u);
  EXPECT_TRUE(nothing.stages[0].axes.empty());
}

TEST(Schedule, AxesCanWaitForALaterStage) {
  const auto stages = [](ScheduleRequest r, FftStage when) {
    r.fft_stage = when;
    const Schedule s = make_schedule(r);
    std::string text;
    for (const Stage& stage : s.stages) {
      if (stage.kind == Stage::Kind::reshape) text += '/';
      for (int a : stage.axes) text += std::to_string(a);
    }
    return text;
  };
  using enum FftStage;
  const Shape cube{16, 16, 16};
  // Whole along axes 0 and 1, then along 1 and 2.
  const ScheduleRequest bricks = request(cube, 2, Distribution::brick(), Distribution::brick());
  EXPECT_EQ(stages(bricks, early), "01/2/");
  EXPECT_EQ(stages(bricks, automatic), "0/12/");
  EXPECT_EQ(stages(bricks, next), "0/12/");
  EXPECT_EQ(stages(bricks, last), "0/2/1");
  const ScheduleRequest slabs = request(cube, 4, Distribution::slab(0), Distribution::slab(0));
  EXPECT_EQ(stages(slabs, early), "12/0/");
  EXPECT_EQ(stages(slabs, automatic), "12/0/");
  EXPECT_EQ(stages(slabs, next), "1/02/");
  EXPECT_EQ(stages(slabs, last), "1/0/2");
  // Rows that are whole keep their axes.
  const ScheduleRequest cut =
      request(cube, 4, Distribution::slab(2), Distribution::slab(2), Decomposition::slab, {c2c, c2c, r2c});
  EXPECT_EQ(stages(cut, automatic), stages(cut, early));
  const ScheduleRequest cubes =
      request(cube, 8, Distribution::brick(), Distribution::brick(), Decomposition::slab);
  EXPECT_EQ(stages(cubes, automatic), stages(cubes, early));
  EXPECT_NE(stages(cubes, next), stages(cubes, early));
  // The r2c axis comes first, and each stage keeps an axis.
  const ScheduleRequest real = request(cube, 4, Distribution::slab(0), Distribution::slab(0),
                                       Decomposition::automatic, {c2c, c2c, r2c});
  EXPECT_EQ(stages(real, early), "12/0/");
  EXPECT_EQ(stages(real, last), "2/0/1");
  const ScheduleRequest pencils =
      request(cube, 4, Distribution::fastest(), Distribution::fastest(), Decomposition::pencil);
  EXPECT_EQ(stages(pencils, next), stages(pencils, early));
}

TEST(Schedule, NoReshapeMovesNothingAndInverseMirrors) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 13);
    const RandomProblem p = make_random_problem(seed, ranks, false);
    const ScheduleRequest r = p.request();
    const Schedule s = make_schedule(r);
    AxisVector<int> done;
    for (std::size_t i = 0; i < s.stages.size(); ++i) {
      const Tiling &from = *s.fields[i].tiling, &to = *s.fields[i + 1].tiling;
      if (s.stages[i].kind == Stage::Kind::fft) {
        for (int a : s.stages[i].axes) {
          EXPECT_TRUE(from.is_local(a));
          const bool joins = s.stages[i].halves == Halves::join;
          EXPECT_TRUE(!done.contains(a) || joins || (p.problem.between != Between::none && i > 0));
          if (!done.contains(a)) done.push_back(a);
        }
        continue;
      }
      Index moved = 0;
      for (int q = 0; q < ranks; ++q) moved += traffic(from, to, q).sent_points;
      EXPECT_GT(moved, 0) << p.describe() << to_string(s);
    }
    for (int a = 0; a < p.problem.shape.size(); ++a)
      EXPECT_EQ(done.contains(a), r.transforms[a] != none) << p.describe();
    const Schedule back = inverse(inverse(s));
    EXPECT_EQ(to_string(back), to_string(s));
    EXPECT_EQ(inverse(s).stages.size(), s.stages.size());
  }
}

TEST(Schedule, SaysWhatItCannotDo) {
  expect_error([] { make_schedule(request({64}, 4, Distribution::slab(0), Distribution::slab(0))); },
               "one-dimensional transforms are not distributed");
  expect_error(
      [] {
        make_schedule(
            request({64, 64}, 4, Distribution::slab(0), Distribution::slab(0), Decomposition::pencil));
      },
      "at least 3 axes");
  expect_error([] { named_tiling(Distribution::slab(3), {4, 4, 4}, 2, "input"); }, "an axis of 0..2");
  expect_error(
      [] {
        named_tiling(Distribution::grid({2, 2, 2}), {4, 4, 4}, 7, "output");
      },
      "at most 7 cells");
  expect_error([] { named_tiling(Distribution::pencil(0), {4, 4}, 2, "input"); }, "at least 3 axes");
  const int huge = 65536;  // the product wraps around to 0 in 64 bits
  expect_error(
      [] {
        named_tiling(Distribution::grid({huge, huge, huge, huge}), {8, 8, 8, 8}, 4, "input");
      },
      "at most 4 cells");
}

TEST(ExchangeGroups, FollowTheGrid) {
  const Shape shape{8, 8, 8};
  const auto groups =
      exchange_groups(Tiling::from_grid(shape, {2, 3, 1}, 6), Tiling::from_grid(shape, {2, 1, 3}, 6));
  EXPECT_EQ(groups, (std::vector<int>{0, 0, 0, 3, 3, 3}));
}

TEST(Schedule, PencilsAreCutAsAskedForInTheOrderThatFitsTheUsers) {
  for (const std::vector<int>& pq : {std::vector<int>{2, 12}, {12, 2}, {4, 6}, {24, 1}}) {
    for (const int local : {0, 1, 2}) {
      ScheduleRequest r =
          request({48, 48, 48}, 24, Distribution::fastest(), Distribution::fastest(), Decomposition::pencil);
      AxisVector<int> parts(3, 1);
      parts[local == 0 ? 1 : 0] = pq[0];
      parts[local == 2 ? 1 : 2] = pq[1];
      r.input = named_tiling(Distribution::grid(parts), r.shape, r.ranks, "input");
      r.input_orders = {c_order(3)};
      r.pencil_grid = {pq[0], pq[1]};
      const Schedule s = make_schedule(r);
      const std::vector<int> wanted{1, std::min(pq[0], pq[1]), std::max(pq[0], pq[1])};
      for (const Grid& g : grids(s)) EXPECT_EQ(sorted(g), wanted);
      // Each reshape stays within the rows or within the columns of the grid.
      for (std::size_t i = 0; i < s.stages.size(); ++i) {
        if (s.stages[i].kind != Stage::Kind::reshape) continue;
        EXPECT_LT(traffic(*s.fields[i].tiling, *s.fields[i + 1].tiling, 0).messages, std::max(pq[0], pq[1]));
      }
    }
  }
}

}  // namespace weft::test
