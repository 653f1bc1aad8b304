// Designs of GPUs that are not here.
#include <gtest/gtest.h>

#include <string>

#include "kernels/lines/radices.hpp"
#include "program/diversions.hpp"
#include "support/design_of.hpp"
#include "support/diverted.hpp"
#include "support/expect_error.hpp"
#include "support/made_settings.hpp"
#include "support/replay.hpp"
#include "support/says.hpp"
#include "traffic/placement.hpp"

namespace weft::test {

TEST(Design, HasNoTilesWhereTheLastFftPuts) {
  const auto pipeline = [](const Shape& shape, const Options& options = {}) {
    Problem p = bricks_of_cube(1);
    p.shape = shape;
    p.input = Distribution::slab(0);
    p.output = Distribution::slab(1);
    return first_leg(design_for(p, gpus(2, 2), options)).pipeline;
  };
  EXPECT_EQ(pipeline({256, 256, 256}), "sequential");
  for (Index n = 200; n <= 256; n += 2)
    EXPECT_EQ(pipeline({256, n, 256}) == "sequential", line_radices(n).has_value()) << n;
  for (const Shape& shape : {Shape{256, 255, 256}, {255, 256, 256}, {512, 1536, 512}})
    EXPECT_EQ(pipeline(shape), "two-front") << shape[1];
  EXPECT_EQ(pipeline({256, 256, 256}, Options().set("codec", "fp32")), "two-front");
}

/// Parts that are packed lie as the rank's own part where it belongs if they are cut across planes. Backward
/// they are cut along them, and only one rank of two has all that it sends in one piece.
TEST(Design, FftsPackWhatIsSent) {
  for (const int ranks : {2, 4})
    for (const char* pipeline : {"planes", "sequential"}) {
      Problem p = bricks_of_cube(16);
      p.input = Distribution::slab(0);
      p.output = Distribution::slab(1);
      const Options options = Options().set("exchange", "nccl").set("pipeline", pipeline);
      const Design d = design_for(p, gpus(ranks, ranks), options);
      const Index part = 16 * 16 * 16 / (ranks * ranks);
      for (const Direction direction : {Direction::forward, Direction::backward})
        for (int q = 0; q < ranks; ++q) {
          const Program program = program_of(d, direction, q);
          Index packed = 0, kept = 0;
          for (const Diversion& found : diversions(program))
            for (const Diversion::Part& of_fft : found.parts)
              for (const Diversion::Piece& piece : of_fft.pieces) {
                EXPECT_NE(piece.packed_for, q);
                (piece.packed_for < 0 ? kept : packed) += piece.box.count();
              }
          const bool forward = direction == Direction::forward;
          if (forward || ranks == 2) {
            EXPECT_EQ(packed, part * (ranks - 1)) << pipeline << q;
          }
          if (forward) {
            EXPECT_EQ(kept, part) << pipeline << q;
          }
          EXPECT_NO_THROW(check_program(diverted(program))) << to_string(diverted(program));
        }
      for (const Direction direction : {Direction::forward, Direction::backward})
        replay(ranks, [&](int q) { return diverted(program_of(d, direction, q)); }, {1, false, 2});
    }
}

/// So that FFTs pack in either direction what the first exchange sends. What is chosen for a reshape goes for
/// the one like it backward.
TEST(Design, BackwardByMessagesHasTheStagesOfForwardInTheirOrder) {
  const auto planes = [] { return Options().set("exchange", "nccl").set("pipeline", "planes"); };
  const auto packed_by_ffts = [](const Program& program) {
    return points_diverted(program, [](const Diversion::Piece& piece) { return piece.packed_for >= 0; });
  };
  Problem cube = bricks_of_cube(16), square = cube;
  cube.input = cube.output = Distribution::slab(0);
  square.shape = {24, 36};
  square.transforms = {Transform::c2c, Transform::c2c};
  square.input = square.output = Distribution::slab(0);
  Problem pencils = cube;
  pencils.input = pencils.output = Distribution::pencil(2);
  for (const Problem* const p : {&cube, &square, &pencils})
    for (const int ranks : {2, 3, 4})
      for (const char* tile : {"0", "2", "4,1", "3,2"}) {
        if (p == &pencils && std::string(tile).size() > 1) continue;  // three reshapes
        const Design d = design_for(*p, gpus(ranks, ranks), planes().set("tile", tile));
        EXPECT_EQ(d.schedules[1], in_same_order(d.schedules[0])) << to_string(d);
        EXPECT_EQ(d.legs[0], d.legs[1]) << to_string(d);
        Index packed = 0;
        for (int q = 0; q < ranks; ++q) {
          const Index forward = packed_by_ffts(program_of(d, Direction::forward, q));
          EXPECT_EQ(packed_by_ffts(program_of(d, Direction::backward, q)), forward);
          packed += forward;
        }
        if (p == &cube) {
          EXPECT_GT(packed, 0);
        }
        const auto moved = [&](int q) { return diverted(program_of(d, Direction::backward, q)); };
        for (int q = 0; q < ranks; ++q) {
          ASSERT_NO_THROW(check_program(moved(q))) << to_string(moved(q));
          const Program program = program_of(d, Direction::backward, q);
          EXPECT_LE(program.workspace_bytes, 3 * aligned(program.largest_box_bytes)) << to_string(program);
        }
        replay(ranks, moved, {1, false, 2});
      }
  const Design coded = design_for(cube, gpus(2, 2), planes().set("codec", "fp16,none"));
  EXPECT_TRUE(coded.legs[0][0].codec);
  EXPECT_FALSE(coded.legs[0][1].codec);
  EXPECT_EQ(coded.legs[0], coded.legs[1]);
  const auto is_mirror = [&](const Problem& problem, const Options& options) {
    const Design d = design_for(problem, gpus(2, 2), options);
    return d.schedules[1] == inverse(d.schedules[0]);
  };
  EXPECT_FALSE(is_mirror(cube, planes()));
  EXPECT_TRUE(is_mirror(cube, planes().set("pipeline", "two-front").set("front", 50)));
  EXPECT_TRUE(is_mirror(cube, Options().set("exchange", "nccl").set("pipeline", "sequential")));
  EXPECT_TRUE(is_mirror(cube, Options().set("exchange", "p2p").set("pipeline", "planes")));
  Problem other = cube;
  other.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
  EXPECT_TRUE(is_mirror(other, planes()));
  other = cube;
  other.output = Distribution::slab(1);
  EXPECT_TRUE(is_mirror(other, planes()));
  other.input = other.output;
  EXPECT_FALSE(is_mirror(other, planes()));
}

/// Of messages the first tile that is sent is thin, and the last one that is received. Backward the rest of
/// the columns is on its way while their front is transformed, and no part is packed or copied; with more
/// ranks FFTs would have too many parts to read.
TEST(Design, OfMessagesHasThinTilesAtItsEndsAndAFrontBackward) {
  Problem p = bricks_of_cube(512);
  p.input = Distribution::slab(0);
  p.output = Distribution::slab(1);
  const Options by_nccl = Options().set("exchange", "nccl");
  for (const int ranks : {2, 3, 4}) {
    const Design d = design_for(p, gpus(ranks, ranks), by_nccl);
    const Leg &forward = d.legs[0][0], &backward = d.legs[1][0];
    EXPECT_EQ(forward.pipeline, "two-front");
    EXPECT_TRUE(says(forward.reason, "no front: its parts would have to be packed"));
    EXPECT_TRUE(says(backward.reason, ranks == 2 ? "a front along axis 1" : "too many parts would arrive"));
    // Of three ranks one has 170 planes, the others 171.
    EXPECT_EQ(says(forward.reason, "the first the thinnest"), ranks != 3);
    EXPECT_EQ(says(backward.reason, "the last the thinnest"), ranks != 3);
    EXPECT_EQ(forward.planes()->rest, 0);
    EXPECT_EQ(backward.planes()->rest, ranks == 2 ? 1 : 0);
    EXPECT_EQ(forward.planes()->thickness, ranks == 3 ? Thickness::thin_last : Thickness::growing);
    EXPECT_EQ(backward.planes()->thickness, ranks == 3 ? Thickness::thin_last : Thickness::shrinking);
    Problem natural = p;
    natural.output = natural.input;
    const Design n = design_for(natural, gpus(ranks, ranks), by_nccl);
    EXPECT_EQ(n.legs[0], n.legs[1]);
    EXPECT_TRUE(says(n.legs[0][1].reason, "no front: there is another exchange"));
  }
  const auto has_front = [&](const Problem& problem, const Options& options) {
    return design_for(problem, gpus(2, 2), options).legs[1][0].planes()->rest > 0;
  };
  Problem batch = p, other_way = p;
  batch.batch = 2;
  std::swap(other_way.input, other_way.output);
  EXPECT_TRUE(has_front(p, by_nccl));
  EXPECT_FALSE(has_front(batch, by_nccl));
  EXPECT_FALSE(has_front(other_way, by_nccl));
  EXPECT_FALSE(has_front(p, Options().set("exchange", "nccl").set("codec", "fp32")));
  Design two = design_for(p, gpus(2, 2), by_nccl);
  two.legs[1][0].traits.any_place = true;  // as NCCL's
  const Program program = program_of(two, Direction::backward, 1);
  for (const Op& op : program.ops)
    for (const OpKind kind : {OpKind::pack, OpKind::unpack, OpKind::copy}) EXPECT_NE(op.kind, kind);
  EXPECT_EQ(points_diverted(program, [](const Diversion::Piece&) { return true; }), 256 * 256 * 512);
  const Options by_direct = Options().set("exchange", "direct").set("pipeline", "planes");
  EXPECT_EQ(first_leg(design_for(p, gpus(2, 2), by_direct)).planes()->thickness, Thickness::thin_first);
}

/// Where the FFT between two exchanges goes on tile by tile, messages of one hide what that of a tile takes
/// for the other: half as many tiles are enough, unless parts have to be packed or encoded as well.
TEST(Design, BetweenExchangesByMessagesTilesAreFewer) {
  const Problem p = bricks_of_cube(512);
  const auto tiles = [](const Problem& problem, const char* exchange, const char* codec = "none") {
    const Design d =
        design_for(problem, gpus(2, 2),
                   Options().set("exchange", exchange).set("pipeline", "planes").set("codec", codec));
    EXPECT_EQ(d.legs[0].front().tiles, d.legs[0].back().tiles);
    return d.legs[0].front().tiles;
  };
  EXPECT_EQ(tiles(p, "nccl"), 3);
  EXPECT_EQ(tiles(p, "nccl", "fp32"), 6);
  EXPECT_EQ(tiles(p, "direct"), 8);
  Problem slab = p, small = p, real = p;
  slab.input = Distribution::slab(0);
  slab.output = Distribution::slab(1);
  EXPECT_EQ(tiles(slab, "nccl"), 6);
  small.shape = {256, 256, 256};
  EXPECT_EQ(tiles(small, "nccl"), 2);
  real.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
  EXPECT_EQ(tiles(real, "nccl"), 4);
  // With an operator the FFT between both needs all points of the axis that is cut.
  Problem between = slab;
  between.output = between.input;
  between.between = Between::modes;
  EXPECT_EQ(tiles(between, "nccl"), 6);
}

/// The last FFT before the exchange transforms two axes in either direction, and puts all of its result.
TEST(Design, HidesPutsOfLargeBoxes) {
  Problem p = bricks_of_cube(512);
  p.input = Distribution::slab(0);
  p.output = Distribution::slab(1);
  const Design d = design_for(p, gpus(2, 2));
  EXPECT_TRUE(d.memory.ffts_put);
  EXPECT_TRUE(d.memory.needs_turns);
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    const Program program = program_of(d, direction, 1);
    const std::vector<Diversion> all = diversions(program, Diverted::puts);
    ASSERT_EQ(all.size(), 1U) << name_of(direction);
    ASSERT_EQ(all[0].parts.size(), 1U);
    EXPECT_EQ(all[0].parts[0].pieces.size(), 2U);
    EXPECT_EQ(axes_of(d.schedule(direction), 0).size(), 2U);
  }
  // In another order of memory in which rows remain rows, also beside an axis of one point.
  const auto puts_in_order = [](Problem q, const Order& order) {
    q.output = q.output.with_order(order);
    const Design other = design_for(q, gpus(2, 2));
    for (const Direction direction : {Direction::forward, Direction::backward})
      EXPECT_EQ(diversions(program_of(other, direction, 1), Diverted::puts).size(),
                other.memory.ffts_put ? 1U : 0U);
    return other.memory.ffts_put;
  };
  EXPECT_TRUE(puts_in_order(p, {1, 0, 2}));
  Problem with_one = p;
  with_one.shape = {512, 512, 512, 1};
  with_one.transforms = {Transform::c2c, Transform::c2c, Transform::c2c, Transform::c2c};
  EXPECT_TRUE(puts_in_order(with_one, {1, 0, 2, 3}));
  for (const auto why : {&Closed::roomy, &Closed::turns}) {
    Setting roomless = gpus(2, 2);
    roomless.closed.*why = "no room";
    EXPECT_FALSE(design_for(p, roomless).memory.ffts_put);
  }
  EXPECT_FALSE(design_for(p, gpus(2, 2), Options().set("puts", "engine")).memory.ffts_put);
  p.shape = {256, 256, 256};
  EXPECT_TRUE(design_for(p, gpus(2, 2)).memory.ffts_put);
  EXPECT_FALSE(design_for(p, gpus(2, 2)).memory.needs_turns);
  EXPECT_FALSE(design_for(p, gpus(2, 2), Options().set("puts", "engine")).memory.ffts_put);
  // Of r2c backward it is one axis that is put: the real one comes last.
  p.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
  EXPECT_TRUE(puts_in_order(p, {1, 0, 2}));
  const Design real = design_for(p, gpus(2, 2));
  EXPECT_TRUE(real.memory.needs_turns);
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    EXPECT_EQ(diversions(program_of(real, direction, 0), Diverted::puts).size(), 1U) << name_of(direction);
    EXPECT_EQ(axes_of(real.schedule(direction), 0).size(), direction == Direction::forward ? 2 : 1);
  }
  // Small and very large boxes, an odd number of rows, long rows, another real axis.
  for (const Shape& shape : {Shape{128, 128, 128}, {1024, 1024, 1024}, {512, 405, 256}, {64, 128, 1620}}) {
    p.shape = shape;
    EXPECT_FALSE(design_for(p, gpus(2, 2)).memory.ffts_put) << shape[2];
  }
  p.shape = {256, 256, 256};
  p.transforms = {Transform::c2c, Transform::r2c, Transform::c2c};
  EXPECT_FALSE(design_for(p, gpus(2, 2)).memory.ffts_put);
}

namespace {

/// Where the FFTs before the only exchange of slabs put the first piece; empty strides if they do not put.
Operand put_by_ffts(const Shape& shape, int ranks, Precision precision, bool real, Direction direction) {
  Problem p = bricks_of_cube(512);
  p.shape = shape;
  p.precision = precision;
  p.input = Distribution::slab(0);
  p.output = Distribution::slab(1);
  if (real) p.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
  const std::vector<Diversion> all =
      diversions(program_of(design_for(p, gpus(ranks, ranks)), direction, 0), Diverted::puts);
  return all.empty() ? Operand{} : all[0].parts[0].pieces[0].to;
}

}  // namespace

/// Rows of 257 modes land 264 apart, so that each begins on a multiple of 128 bytes. Gaps behind shorter rows
/// would be more than 4% of them, and lines of single precision are read in pairs.
TEST(Design, PadsRowsThatFftsPut) {
  const auto row_stride = [](const Shape& shape, Precision precision, bool real, Direction direction) {
    const Operand to = put_by_ffts(shape, 2, precision, real, direction);
    return to.strides.empty() ? 0 : to.strides[1];
  };
  using enum Direction;
  using enum Precision;
  EXPECT_EQ(row_stride({512, 512, 512}, float64, true, forward), 264);
  EXPECT_EQ(row_stride({512, 512, 512}, float64, true, backward), 257);
  EXPECT_EQ(row_stride({512, 512, 512}, float32, true, forward), 0);
  EXPECT_EQ(row_stride({256, 256, 256}, float64, true, forward), 129);
  EXPECT_EQ(row_stride({500, 500, 500}, float64, false, forward), 504);
  EXPECT_EQ(row_stride({500, 500, 500}, float64, false, backward), 504);
  EXPECT_EQ(row_stride({450, 450, 450}, float32, false, forward), 464);
  EXPECT_EQ(row_stride({400, 400, 405}, float32, false, forward), 405);
  EXPECT_EQ(row_stride({512, 512, 512}, float64, false, forward), 512);
}

/// Where lines have more than 800 points, two modes of each of the lines that fill 64 bytes make a cell,
/// along the axis that is transformed before the exchange.
TEST(Design, CellsOfWhatFftsPut) {
  const auto cells = [](const Shape& shape, int ranks, Precision precision, bool real, Direction direction) {
    const Operand to = put_by_ffts(shape, ranks, precision, real, direction);
    EXPECT_FALSE(to.strides.empty()) << "nothing is put";
    return to.cells;
  };
  using enum Direction;
  using enum Precision;
  const Shape large{1024, 1000, 900};
  EXPECT_EQ(cells(large, 2, float64, false, forward), (Cells{2, 1, 4, 2, 1024 * 8, 1024 * 8 * 225}));
  EXPECT_EQ(cells(large, 2, float64, false, backward), (Cells{2, 0, 4, 2, 1000 * 8, 1000 * 8 * 225}));
  EXPECT_EQ(cells({1024, 1024, 1024}, 4, float32, false, forward),
            (Cells{2, 1, 8, 2, 1024 * 16, 1024 * 16 * 128}));
  EXPECT_FALSE(cells(large, 8, float64, false, forward)) << "an odd number of rows";
  EXPECT_FALSE(cells(large, 2, float32, false, forward)) << "rows that end within a cell";
  EXPECT_FALSE(cells({800, 800, 1024}, 2, float64, false, forward)) << "rows of 128 bytes anyway";
  EXPECT_FALSE(cells({256, 900, 512}, 2, float64, true, forward)) << "r2c";
}

/// Each of the FFTs before two exchanges transforms the one axis that the exchange cuts.
TEST(Design, PutsInBothExchanges) {
  Problem slabs = bricks_of_cube(512);
  slabs.input = slabs.output = Distribution::slab(0);
  Problem rows = slabs;  // cut along the fastest axis
  rows.input = rows.output = Distribution::slab(2);
  for (const Problem& p : {slabs, rows}) {
    const Design d = design_for(p, gpus(2, 2));
    EXPECT_TRUE(lands_in_turn(d)) << to_string(d);
    EXPECT_FALSE(first_leg(d).pads_rows());
    EXPECT_TRUE(d.memory.needs_turns);
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      const Program program = program_of(d, direction, 1);
      const std::vector<Diversion> all = diversions(program, Diverted::puts);
      ASSERT_EQ(all.size(), 2U) << to_string(d);
      for (const Diversion& of_reshape : all) {
        ASSERT_EQ(of_reshape.parts.size(), 1U);
        EXPECT_EQ(of_reshape.parts[0].pieces.size(), 2U);
      }
    }
  }
  Setting closed = gpus(2, 2);
  closed.closed.turns = "not the fastest";
  EXPECT_FALSE(lands_in_turn(design_for(slabs, closed)));
  for (const auto& [option, value] :
       {std::pair{"fft_stage", "early"}, {"puts", "engine"}, {"pipeline", "planes"}})
    EXPECT_FALSE(lands_in_turn(design_for(slabs, gpus(2, 2), Options().set(option, value)))) << option;
  EXPECT_TRUE(lands_in_turn(design_for(slabs, gpus(2, 2), Options().set("fft_stage", "last"))));
  slabs.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
  EXPECT_FALSE(lands_in_turn(design_for(slabs, gpus(2, 2))));
}

TEST(Design, OfGpusThatAllReachEachOther) {
  const Design d = design_for(bricks_of_cube(256), gpus(4, 4));
  EXPECT_TRUE(first_leg(d).traits.stores);
  EXPECT_EQ(first_leg(d).store_lane, Lane::compute);
  EXPECT_GT(d.memory.largest_in_turn, 0);
  EXPECT_TRUE(d.memory.staged.empty());
  EXPECT_EQ(d.plain_executions.value, 1);
  EXPECT_EQ(d.plain_executions.origin, Origin::rule);
  EXPECT_EQ(design_for(bricks_of_cube(512), gpus(4, 4)).plain_executions.value, std::nullopt);
  Setting threads = gpus(4, 4);
  threads.threads = true;
  EXPECT_EQ(design_for(bricks_of_cube(256), threads).plain_executions.value, 1);
  EXPECT_EQ(first_leg(design_for(bricks_of_cube(1024), gpus(4, 4))).pipeline, "two-front");
}

TEST(Design, OfGpusInIslandsGoesThroughPinnedMemoryBetweenThem) {
  const Design d = design_for(bricks_of_cube(256), gpus(4, 2));
  EXPECT_EQ(d.memory.far, "p2p");
  EXPECT_EQ(d.memory.largest_in_turn, 0);
  EXPECT_EQ(d.program.nodes, (std::vector<int>{0, 0, 2, 2}));
  EXPECT_TRUE(first_leg(d).traits.stores);
  Setting threads = gpus(4, 2);
  threads.threads = true;
  EXPECT_EQ(design_for(bricks_of_cube(256), threads).plain_executions.value, std::nullopt);
  const Design alone = design_for(bricks_of_cube(256), gpus(4, 2), Options().set("exchange", "p2p"));
  EXPECT_EQ(alone.memory.staged, std::vector<std::string>{"p2p"});
  expect_error([&] { design_for(bricks_of_cube(64), gpus(4, 2), Options().set("staging", "off")); },
               "staging");
}

TEST(Design, OfGpusWithTooLittleMemoryIsLeaner) {
  Setting setting = gpus(4, 4);
  const Design roomy = design_for(bricks_of_cube(1024), setting);
  EXPECT_TRUE(roomy.memory.may_be_leaner);
  setting.closed.roomy = "two-front leaves too little memory";
  const Design lean = design_for(bricks_of_cube(1024), setting);
  EXPECT_EQ(first_leg(lean).pipeline, "windowed");
  EXPECT_FALSE(lean.memory.may_be_leaner);
}

}  // namespace weft::test
