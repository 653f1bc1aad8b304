// How much work a schedule and its programs make: passes of local FFTs, calls per tile, exchanges, copies;
// and where a scale goes.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.hpp"
#include "geometry/layout.hpp"
#include "program/builder.hpp"
#include "program/pipeline.hpp"
#include "schedule/planner.hpp"
#include "support/built.hpp"
#include "support/expect_error.hpp"
#include "support/replay.hpp"
#include "support/schedule_request.hpp"

namespace weft::test {

namespace {

using enum Transform;

Program program_of(const Schedule& s, const ExchangeTraits& kind = traits::dense,
                   const char* pipeline = "sequential", const PipelineParameters& values = {},
                   double scale = 1, int rank = 0) {
  std::vector<Leg> choices = choose_pipeline(s, find_pipeline(pipeline), values);
  for (Leg& c : choices) c.traits = kind;
  return build_program(s, choices, {rank, 8, false, {}, {}, scale});
}

/// Axes transformed by all calls together: passes over the data, if each axis is one.
int passes(const Program& p) {
  int n = 0;
  for (const FftCall& f : p.ffts) n += f.axes.size();
  return n;
}

int count(const Program& p, OpKind kind) {
  return static_cast<int>(
      std::count_if(p.ops.begin(), p.ops.end(), [&](const Op& op) { return op.kind == kind; }));
}

}  // namespace

/// Bytes that all operations together read from and write to memory that does not stay in the cache.
struct Moved {
  Index read = 0, written = 0;
};

Moved moved(const Program& p) {
  Moved m;
  const auto add = [](Index& sum, const Operand& o, Index bytes) {
    if (o.space != Space::scratch) sum += bytes;
  };
  for (const FftCall& f : p.ffts) {
    add(m.read, f.from, f.from_box.count() * f.from_bytes);
    add(m.written, f.to, f.to_box.count() * f.to_bytes);
  }
  for (const CopyCall& c : p.copies) {
    add(m.read, c.from, c.box.count() * c.element_bytes);
    add(m.written, c.to, c.box.count() * c.element_bytes);
  }
  return m;
}

/// Planes of 256 x 256 points and their padding are larger than this cache. In memory, where rows are not
/// padded, all points of a column would go to one set of it; those of 260 x 260 do not.
TEST(Passes, PlanesWhoseColumnsMeetAreCopiedAsideAlsoFromALargerCache) {
  const auto ffts_of = [](Index n) {
    const Schedule s =
        make_schedule(request_of({64, n, n}, 1, Distribution::slab(0), Distribution::slab(0), {}));
    ProgramRequest request;
    request.cache_bytes = 1 << 20;
    return build_program(s, {}, request).ffts;
  };
  for (const FftCall& f : ffts_of(256))
    for (const Operand* o : {&f.from, &f.to}) EXPECT_EQ(o->space, Space::scratch) << by_x(f.extents);
  const std::vector<FftCall> others = ffts_of(260);
  EXPECT_TRUE(std::any_of(others.begin(), others.end(),
                          [](const FftCall& f) { return f.to.space == Space::output; }));
}

TEST(Passes, PlanesReadAndWriteEveryPointOncePerStage) {
  for (const AxisVector<Transform>& transforms :
       {AxisVector<Transform>{c2c, c2c, c2c}, {c2c, c2c, r2c}, {dct2, c2c, dst1}})
    for (int ranks : {2, 3})
      for (const int out : {1, 0}) {
        const Schedule forward = make_schedule(
            request_of({48, 40, 36}, ranks, Distribution::slab(0), Distribution::slab(out), transforms));
        for (const Schedule& s : {forward, inverse(forward)}) {
          const Program p = program_of(s, traits::stores, "planes", {{"subtile", 32}});
          const auto bytes = [&](const Field& f) {
            return f.box(0).count() * (f.element == Element::real ? 8 : 16);
          };
          Index read = bytes(s.input()), written = bytes(s.output());
          Index sent = 0;
          for (std::size_t i = 0; i < s.stages.size(); ++i) {
            if (s.stages[i].kind != Stage::Kind::reshape) continue;
            read += bytes(s.fields[i + 1]);
            sent += bytes(s.fields[i]);
          }
          if (s.stages.back().kind == Stage::Kind::reshape) {  // what stays goes straight to the user's array
            const Field &before = s.fields[s.fields.size() - 2], &after = s.output();
            const Index own =
                intersect(before.box(0), after.box(0)).count() * bytes(after) / after.box(0).count();
            read -= own;
            sent -= own;
          }
          // A DCT or DST beside an FFT follows it in place, in scratch memory.
          EXPECT_EQ(moved(p).read, read) << to_string(s);
          EXPECT_EQ(moved(p).written, written + sent) << to_string(s);
          EXPECT_EQ(reshapes(s), out == 1 ? 1 : 2);
        }
      }
}

TEST(Passes, OneRankPassesTwiceOverWhatIsTooLargeForTheCache) {
  for (const AxisVector<Transform>& transforms :
       {AxisVector<Transform>{c2c, c2c, c2c}, {c2c, c2c, r2c}, {dct2, dct3, dst1}})
    for (const bool in_place : {false, true}) {
      const Schedule s = make_schedule(
          request_of({48, 40, 36}, 1, Distribution::slab(0), Distribution::slab(0), transforms));
      ProgramRequest request{0, 8, in_place, {}, {}, 1};
      request.subtile = 32 << 10;
      request.cache_bytes = 1 << 20;
      const Program whole = build_program(s, {}, request);
      EXPECT_EQ(whole.ffts.size(), 1u);
      request.cache_bytes = 32 << 10;
      const bool dense = in_place && transforms[2] == r2c;  // the complex rows have no room in the real ones
      const Program p = build_program(s, {}, request);
      check_program(p);
      const auto bytes = [&](const Field& f) {
        return f.box(0).count() * (f.element == Element::real ? 8 : 16);
      };
      if (dense) continue;
      EXPECT_GT(p.ffts.size(), 48u);
      EXPECT_EQ(moved(p).read, bytes(s.input()) + bytes(s.output()));
      EXPECT_EQ(moved(p).written, 2 * bytes(s.output()));
      EXPECT_LE(p.workspace_bytes, 2 * (2 * (32 << 10) + 64));
    }
}

TEST(Passes, OneRankPassesTwiceForC2rThroughTheWorkspace) {
  const Schedule s = inverse(make_schedule(
      request_of({48, 40, 36}, 1, Distribution::slab(0), Distribution::slab(0), {c2c, c2c, r2c})));
  ProgramRequest request{0, 8, false, {}, {}, 1};
  request.subtile = 32 << 10;
  request.cache_bytes = 32 << 10;
  const Program p = build_program(s, {}, request);
  check_program(p);
  const Index half = s.input().box(0).count() * 16, whole = s.output().box(0).count() * 8;
  EXPECT_GT(p.ffts.size(), 40u);
  EXPECT_EQ(moved(p).read, 2 * half);
  EXPECT_EQ(moved(p).written, half + whole);
  EXPECT_LE(p.workspace_bytes, half + 2 * (2 * (32 << 10) + 64));
  // In place that memory would be needed for nothing else.
  request.in_place = true;
  EXPECT_EQ(build_program(s, {}, request).ffts.size(), 1u);
}

TEST(Passes, OneRankPassesOnceInPartsWhereLinesLieAcrossRows) {
  const auto calls = [](const AxisVector<Transform>& transforms, Index cache, Index points = 64,
                        bool backward = false) {
    const Schedule s = make_schedule(
        request_of({48, 40, points}, 1, Distribution::slab(0), Distribution::slab(0), transforms));
    ProgramRequest request{0, 8, false, {}, {}, 1};
    request.subtile = 32 << 10;
    request.cache_bytes = cache;
    const Program p = build_program(backward ? inverse(s) : s, {}, request);
    check_program(p);
    if (p.ffts.size() > 1) {
      const Field &in = backward ? s.output() : s.input(), &out = backward ? s.input() : s.output();
      const auto bytes = [](const Field& f) {
        return f.box(0).count() * (f.element == Element::real ? 8 : 16);
      };
      EXPECT_EQ(moved(p).read, bytes(in));
      EXPECT_EQ(moved(p).written, bytes(out));
    }
    return p.ffts.size();
  };
  const Index cache = 64 << 10;
  EXPECT_EQ(calls({none, c2c, c2c}, cache), 48u);  // planes
  EXPECT_EQ(calls({none, c2c, r2c}, cache, 128), 48u);
  EXPECT_EQ(calls({none, c2c, r2c}, cache, 126, true), 48u);  // 64 points
  EXPECT_GT(calls({c2c, none, none}, cache), 1u);             // columns
  EXPECT_EQ(calls({none, none, c2c}, cache), 1u);             // rows
  EXPECT_EQ(calls({none, c2c, c2c}, cache, 36), 1u);          // planes whose lines do not meet
  EXPECT_EQ(calls({none, c2c, c2c}, 64 << 20), 1u);
}

TEST(Passes, R2cNeverMakesMoreThanC2c) {
  const auto brick = Distribution::brick();
  const auto slab = [](int a) { return Distribution::slab(a); };
  const auto pencil = [](int a) { return Distribution::pencil(a); };
  const std::vector<std::pair<Distribution, Distribution>> sides{
      {slab(0), slab(1)}, {slab(0), slab(0)}, {pencil(2), pencil(0)}, {brick, brick}};
  for (int ranks : {1, 4, 12})
    for (const auto& [in, out] : sides)
      for (int real = 0; real < 3; ++real) {
        AxisVector<Transform> transforms{c2c, c2c, c2c};
        const Schedule complex = make_schedule(request_of({48, 48, 48}, ranks, in, out, transforms));
        transforms[real] = r2c;
        const Schedule half = make_schedule(request_of({48, 48, 48}, ranks, in, out, transforms));
        // An r2c axis that is cut at first has to be gathered before any other.
        const bool local_at_first = half.input().tiling->is_local(real);
        EXPECT_LE(reshapes(half), reshapes(complex) + (local_at_first ? 0 : 1));
        for (bool back : {false, true}) {
          const Program c = program_of(back ? inverse(complex) : complex);
          const Program r = program_of(back ? inverse(half) : half);
          EXPECT_LE(passes(r), passes(c));
          if (reshapes(half) <= reshapes(complex)) {
            EXPECT_LE(count(r, OpKind::copy), count(c, OpKind::copy));
          }
        }
      }
  const Schedule local = make_schedule(request_of({8, 9, 10}, 1, slab(0), slab(0), {c2c, c2c, r2c}));
  EXPECT_EQ(program_of(local).ffts.size(), 1u);
}

TEST(Passes, MiddleAxesAreOneCallPerTile) {
  const Schedule s = make_schedule(
      request_of({32, 30, 40}, 4, Distribution::slab(0), Distribution::slab(0), {none, c2c, none}));
  EXPECT_EQ(program_of(s).ffts.size(), 1u);
  EXPECT_EQ(program_of(s).ffts[0].extents, (Shape{8, 30, 40}));

  const Schedule moved = make_schedule(
      request_of({32, 30, 40}, 4, Distribution::slab(0), Distribution::slab(2), {none, c2c, none}));
  const Program p = program_of(moved, traits::dense, "windowed", {{"tile", 6}, {"window", 2}});
  ASSERT_GE(p.reshapes.at(0).sent.tiles.size(), 1u);
  EXPECT_LE(p.ffts.size(), p.reshapes[0].sent.tiles.size());
}

TEST(Passes, CosinesAddNoReshapeAndWorkOnHalfTheData) {
  const auto slab = [](int a) { return Distribution::slab(a); };
  const Schedule s = make_schedule(request_of({24, 24, 24}, 4, slab(0), slab(1), {dct2, dst3, r2c}));
  EXPECT_EQ(reshapes(s), 1);
  const Program p = program_of(s);
  EXPECT_EQ(passes(p), 3);
  EXPECT_EQ(p.ffts.front().real_axis, 2);  // r2c first, then the others on what it leaves
  EXPECT_EQ(p.ffts[1].r2r, (AxisVector<Transform>{dst3}));
  const Program back = program_of(inverse(s));
  EXPECT_EQ(back.ffts.front().r2r, (AxisVector<Transform>{dct3}));
  EXPECT_EQ(back.ffts.back().r2r, (AxisVector<Transform>{dst2}));
}

TEST(Passes, ScaleIsFoldedIntoWhatHappensAnyway) {
  const Schedule s = make_schedule(request_of({16, 16, 16}, 4, Distribution::slab(0), Distribution::slab(0)));
  for (const ExchangeTraits& kind : {traits::dense, traits::stores, traits::boxes}) {
    const Program plain = program_of(s, kind), scaled = program_of(s, kind, "sequential", {}, 0.25);
    EXPECT_EQ(plain.ops.size(), scaled.ops.size());
    int folded = 0, calls = 0;
    for (const CopyCall& c : scaled.copies) folded += c.scale != 1 ? 1 : 0;
    for (const FftCall& f : scaled.ffts) calls += f.scale != 1 ? 1 : 0;
    EXPECT_EQ(folded, kind == traits::boxes ? 0 : 4);  // one part for each rank, in one of two reshapes
    EXPECT_EQ(calls, kind == traits::boxes ? 1 : 0);
  }
}

TEST(Passes, StridedExchangesPackNothing) {
  const Schedule s = make_schedule(
      request_of({16, 18, 20}, 6, Distribution::brick(), Distribution::brick(), {c2c, r2c, dct2}));
  const Program p = program_of(s, traits::boxes);
  EXPECT_EQ(count(p, OpKind::pack) + count(p, OpKind::unpack) + count(p, OpKind::copy), 0);
  EXPECT_EQ(static_cast<int>(p.copies.size()), count(p, OpKind::keep));  // only its own parts
}

TEST(Bricks, StandBetweenThePencils) {
  ScheduleRequest r = request_of({64, 64, 64}, 64, Distribution::pencil(2), Distribution::pencil(0));
  EXPECT_EQ(reshapes(make_schedule(r)), 2);
  r.decomposition = Decomposition::brick;
  const Schedule s = make_schedule(r);
  EXPECT_EQ(reshapes(s), 4);
  ScheduleRequest few = request_of({17, 13, 11}, 3, Distribution::slab(0), Distribution::slab(1));
  few.decomposition = Decomposition::brick;
  ScheduleRequest pencils = few;
  pencils.decomposition = Decomposition::pencil;
  // The grid of bricks would be that of the pencils before or behind it.
  EXPECT_EQ(reshapes(make_schedule(few)), reshapes(make_schedule(pencils)));
  int bricks = 0;
  for (const Field& f : s.fields) bricks += f.tiling->grid() == Grid{4, 4, 4} ? 1 : 0;
  EXPECT_EQ(bricks, 2);
  // Messages stay among few ranks.
  for (std::size_t i = 0; i < s.stages.size(); ++i)
    if (s.stages[i].kind == Stage::Kind::reshape) {
      EXPECT_LE(traffic(*s.fields[i].tiling, *s.fields[i + 1].tiling, 21).messages, 16);
    }
  r.shape = {64, 64};
  r.transforms = {c2c, c2c};
  r.input = r.output = nullptr;
  r.input_orders = r.output_orders = {};
  expect_error([&] { make_schedule(r); }, "brick for 2 axes");
}

TEST(Shrink, OnlyTheFirstRanksTransform) {
  for (int computing : {1, 3, 8, 12}) {
    ScheduleRequest r =
        request_of({24, 24, 24}, 12, Distribution::brick(), Distribution::brick(), {c2c, dct2, r2c});
    r.computing_ranks = computing;
    const Schedule s = make_schedule(r);
    for (std::size_t i = 0; i < s.stages.size(); ++i) {
      if (s.stages[i].kind != Stage::Kind::fft) continue;
      for (int rank = computing; rank < 12; ++rank) EXPECT_TRUE(s.fields[i].box(rank).empty());
      EXPECT_LE(12 - s.fields[i].tiling->idle_ranks(), computing);
    }
  }
  // Boxes on the last ranks alone are few enough, but not the first.
  ScheduleRequest late = request_of({24, 24, 24}, 4, Distribution::slab(0), Distribution::slab(0));
  std::vector<Box> boxes(4, Box{{0, 0, 0}, {0, 0, 0}});
  boxes[3] = Box::whole({24, 24, 24});
  late.input = late.output = std::make_shared<const Tiling>(Tiling::from_boxes({24, 24, 24}, boxes));
  late.computing_ranks = 2;
  EXPECT_EQ(reshapes(make_schedule(late)), 3);
  // What cannot be distributed can be gathered.
  ScheduleRequest line = request_of({64}, 4, Distribution::slab(0), Distribution::slab(0));
  expect_error([&] { make_schedule(line); }, "shrink=1");
  line.computing_ranks = 1;
  EXPECT_EQ(reshapes(make_schedule(line)), 2);
}

TEST(Layout, StridedOnlyPutsTheCutAxesFirst) {
  ScheduleRequest r = request_of({24, 24, 24}, 4, Distribution::slab(0), Distribution::slab(0));
  const Schedule contiguous = make_schedule(r);
  r.contiguous = false;
  const Schedule strided = make_schedule(r);
  EXPECT_EQ(contiguous.fields[2].order(0), (Order{1, 2, 0}));
  EXPECT_EQ(strided.fields[2].order(0), (Order{1, 0, 2}));
}

TEST(Large, OffsetsAndCountsBeyond32BitsStayExact) {
  const Index n = 6000;
  const Schedule s = make_schedule(request_of({n, n, n}, 2, Distribution::slab(0), Distribution::slab(1)));
  const Program p = program_of(s, traits::dense, "sequential", {}, 1, 1);
  const Index quarter = n / 2 * (n / 2) * n * 16;
  ASSERT_GT(quarter / 16, Index{1} << 31);
  const TileMessages& t = p.reshapes[0].sent.tiles[0];
  ASSERT_EQ(t.sends.size(), 2u);
  EXPECT_EQ(t.sends[1].offset, quarter);
  EXPECT_EQ(t.sends[1].bytes, quarter);
  EXPECT_EQ(t.receives[1].offset, 3 * quarter);
  EXPECT_EQ(p.workspace_bytes, 4 * quarter);
  for (const CopyCall& c : p.copies) EXPECT_EQ(c.box.count() * c.element_bytes, quarter);
}

}  // namespace weft::test
