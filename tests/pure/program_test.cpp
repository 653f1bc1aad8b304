// Programs: replayed on thousands of ranks without executing, forward and backward.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "design/rules/rules.hpp"
#include "geometry/layout.hpp"
#include "program/builder.hpp"
#include "program/pipeline.hpp"
#include "schedule/planner.hpp"
#include "support/built.hpp"
#include "support/diverted.hpp"
#include "support/expect_error.hpp"
#include "support/random_parameters.hpp"
#include "support/random_problem.hpp"
#include "support/replay.hpp"
#include "traffic/padding.hpp"

namespace weft::test {

namespace {

struct Pipelined {
  const char* name;
  PipelineParameters values;
};
void replay_both_ways(const Schedule& forward, const Pipelined& pipeline, const ExchangeTraits& kind,
                      int every, int executions, bool two_lanes = false, bool Windowed::*lands = nullptr) {
  for (const Schedule& s : {forward, inverse(forward)}) {
    Built made = setup(s, pipeline.name, pipeline.values, kind);
    made.two_lanes = two_lanes;
    if (lands != nullptr) {
      for (Leg& leg : made.choices) std::get<Windowed>(leg.cut).*lands = true;
      const Placement place(made.schedule, made.choices, 8);
      bool any = false;
      for (int j = 0; j < place.reshapes(); ++j)
        for (int r = 0; r < s.ranks; ++r) {
          const Place landing = place.landing(j, r);
          any = any || !lies_packed(landing, landing.box, order_of(landing.strides));
        }
      EXPECT_TRUE(any) << to_string(s);
    }
    Index expected = 0;
    for (std::size_t i = 0; i < s.stages.size(); ++i)
      if (s.stages[i].kind == Stage::Kind::reshape)
        for (int r = 0; r < s.ranks; ++r)
          expected += traffic(*s.fields[i].tiling, *s.fields[i + 1].tiling, r).sent_points *
                      (s.fields[i].element == Element::real ? 8 : 16);
    std::vector<ReplaySettings> settings{{7, false, executions}};
    if (kind != traits::stores) settings.push_back({7, true, executions});
    for (const ReplayReport& report : replay(
             s.ranks, [&](int r) { return made.program(r); }, settings)) {
      EXPECT_EQ(report.bytes_sent, executions * expected);
      EXPECT_EQ(report.bytes_received, executions * expected);
      EXPECT_GT(report.messages, 0);
    }
    for (int r = 0; r < s.ranks; r += every)
      ASSERT_NO_THROW(check_program(made.program(r))) << to_string(made.program(r));
  }
}

}  // namespace

class EveryPipeline : public testing::TestWithParam<Pipelined> {};

void replay_pencils(int ranks, const Pipelined& pipeline, const ExchangeTraits& kind) {
  using enum Transform;
  const Schedule s =
      schedule_of({200, 190, 250}, ranks, Distribution::pencil(2), Distribution::pencil(0), {c2c, c2c, r2c});
  replay_both_ways(s, pipeline, kind, 61, 1);
}

TEST_P(EveryPipeline, HundredsOfRanksForwardAndBackward) {
  for (const ExchangeTraits& kind : {traits::dense, traits::stores}) replay_pencils(512, GetParam(), kind);
}

TEST(Program, FourThousandRanksForwardAndBackward) {
  replay_pencils(4096, {"sequential", {}}, traits::stores);
  replay_pencils(4096, {"two-front", {{"tile", 2}, {"front", 60}}}, traits::dense);
}

INSTANTIATE_TEST_SUITE_P(Program, EveryPipeline,
                         testing::Values(Pipelined{"sequential", {}},
                                         Pipelined{"windowed", {{"tile", 2}, {"window", 2}}},
                                         Pipelined{"th", {{"tile", 2}, {"window", 1}}},
                                         Pipelined{"planes", {{"tile", 2}, {"subtile", 1}}},
                                         Pipelined{"two-front", {{"tile", 2}, {"front", 60}}}),
                         [](const auto& tested) {
                           std::string name = tested.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Program, SlabsAndBricksAndR2c) {
  using enum Transform;
  const auto slab = [](int a) { return Distribution::slab(a); };
  const auto brick = Distribution::brick();
  for (const Pipelined& p :
       {Pipelined{"sequential", {}}, Pipelined{"windowed", {{"tile", 3}, {"window", 2}}},
        Pipelined{"windowed", {{"tile", 1}, {"window", 5}, {"fy", 7}, {"fx", 1}}},
        Pipelined{"windowed", {{"tile", 2}, {"px", 1}, {"uz", 1}}}, Pipelined{"th", {{"tile", 1}, {"fy", 3}}},
        Pipelined{"planes", {{"tile", 1}, {"subtile", 2}}},
        Pipelined{"two-front", {{"tile", 1}, {"front", 40}, {"rest", 1}}}}) {
    for (const ExchangeTraits& kind : {traits::dense, traits::stores}) {
      replay_both_ways(schedule_of({32, 31, 30}, 24, slab(0), slab(0), {c2c, r2c, c2c}), p, kind, 1, 3, true);
      replay_both_ways(schedule_of({32, 31, 30}, 60, brick, brick, {c2c, c2c, r2c}), p, kind, 1, 3, true);
    }
    for (const ExchangeTraits& kind : {traits::dense, traits::stores, traits::boxes}) {
      replay_both_ways(schedule_of({32, 31, 30}, 24, slab(0), slab(1), {c2c, c2c, r2c}), p, kind, 1, 3);
      replay_both_ways(schedule_of({32, 31, 30}, 24, slab(0), slab(0), {c2c, r2c, c2c}), p, kind, 1, 3);
      replay_both_ways(schedule_of({32, 31, 30}, 60, brick, brick, {c2c, c2c, r2c}), p, kind, 1, 3);
      replay_both_ways(schedule_of({6, 7, 8, 9}, 20, brick, slab(3)), p, kind, 1, 3);
    }
  }
}

TEST(Program, RowsThatLandAreNotAlwaysAdjacent) {
  using enum Transform;
  const auto slab = [](int a) { return Distribution::slab(a); };
  for (const ExchangeTraits& kind : {traits::dense, traits::stores}) {
    const auto check = [&](const Schedule& s) {
      replay_both_ways(s, {"sequential", {}}, kind, 1, 3, true, &Windowed::pads_rows);
    };
    check(schedule_of({33, 31, 34}, 24, slab(0), slab(1), {c2c, c2c, r2c}));
    check(schedule_of({32, 31, 30}, 60, Distribution::brick(), Distribution::brick()));
    check(schedule_of({6, 7, 9, 9}, 20, Distribution::brick(), slab(3)));
  }
}

TEST(Program, WhatLandsInCells) {
  ScheduleRequest request = request_of({24, 48, 32}, 12, Distribution::slab(0), Distribution::slab(1));
  request.contiguous = request.shared_axes_first = false;
  const Schedule s = make_schedule(request);
  replay_both_ways(s, {"sequential", {}}, traits::stores, 1, 3, true, &Windowed::in_cells);
}

/// A program that does what `first` does, and then what `second` does.
Program joined(Program first, const Program& second) {
  const auto ops = static_cast<int>(first.ops.size()), deps = static_cast<int>(first.deps.size()),
             reshapes = static_cast<int>(first.reshapes.size()), ffts = static_cast<int>(first.ffts.size()),
             copies = static_cast<int>(first.copies.size());
  for (Op op : second.ops) {
    if (op.call >= 0) op.call += op.kind == OpKind::fft ? ffts : copies;
    if (op.reshape >= 0) op.reshape += reshapes;
    op.deps_begin += deps;
    op.deps_end += deps;
    first.ops.push_back(op);
  }
  for (const int d : second.deps) first.deps.push_back(d + ops);
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(first.ffts, second.ffts);
  append(first.copies, second.copies);
  append(first.reshapes, second.reshapes);
  EXPECT_EQ(first.shared_bytes, second.shared_bytes);
  return first;
}

/// Without memory of its own on any rank but the first, which holds two arrays at most, with room between
/// lines that is a quarter of them at most.
void replay_shared(const Schedule& forward) {
  ASSERT_EQ(not_shared(forward), "") << to_string(forward);
  const std::vector<ReplaySettings> settings{{1, false, 4}, {2, false, 4}, {3, false, 4}};
  const Built there = setup(forward, "shared", {}, traits::stores);
  const Built back = setup(inverse(forward), "shared", {}, traits::stores);
  ASSERT_NO_THROW(replay(
      forward.ranks, [&](int r) { return joined(there.program(r), back.program(r)); }, settings))
      << to_string(forward);
  for (const bool in_place : {false, true})
    for (const Schedule& s : {forward, inverse(forward)}) {
      Built made = setup(s, "shared", {}, traits::stores);
      made.in_place = in_place;
      Index largest = 0;
      for (const Field& f : s.fields)
        largest = std::max(largest, Box::whole(f.shape).count() * (f.element == Element::real ? 8 : 16));
      for (const ReplayReport& report : replay(
               s.ranks, [&](int r) { return made.program(r); }, settings))
        EXPECT_EQ(report.bytes_sent, report.bytes_received);
      for (int r = 0; r < s.ranks; ++r) {
        const Program program = made.program(r);
        ASSERT_NO_THROW(check_program(program)) << to_string(s) << to_string(program);
        EXPECT_LE(program.shared_bytes, 2 * aligned(largest + largest / 4));
      }
    }
}

TEST(Program, OfRanksThatShareOneArray) {
  using enum Transform;
  const auto slab = [](int a) { return Distribution::slab(a); };
  const auto brick = Distribution::brick();
  for (const int ranks : {2, 3, 4, 7})
    for (const Distribution& out : {slab(0), slab(1), brick, Distribution::pencil(2)}) {
      replay_shared(schedule_of({8, 9, 10}, ranks, slab(0), out));
      replay_shared(schedule_of({8, 9, 10}, ranks, slab(0), out, {c2c, c2c, r2c}));
      replay_shared(schedule_of({8, 9, 10}, ranks, brick, out, {c2c, r2c, c2c}));
      replay_shared(schedule_of({8, 9, 10}, ranks, brick, out, {dct2, c2c, r2c}));
      replay_shared(batch_of(3, {8, 7, 6}, ranks, slab(0), out, {c2c, c2c, r2c}));
    }
  // Two reshapes, between all ranks and between pairs.
  replay_shared(schedule_of({8, 9, 10}, 4, Distribution::pencil(2), Distribution::pencil(2)));
  replay_shared(schedule_of({8, 9, 10}, 4, Distribution::pencil(2), Distribution::pencil(0)));
  replay_shared(schedule_of({6, 7, 8, 9}, 12, brick, slab(3)));
  replay_shared(schedule_of({32, 31, 30}, 24, brick, brick));
}

/// Two pairs of ranks, neither of which has anything for the other, would wait for each other.
TEST(Program, OfRanksThatExchangeNothingWithEachOtherShareNoArray) {
  using enum Transform;
  const auto pencils = [](int axis) { return Distribution::pencil(axis); };
  const Schedule pairs = schedule_of({4, 6, 8}, 4, pencils(2), pencils(1), {none, c2c, c2c});
  EXPECT_NE(not_shared(pairs), "") << to_string(pairs);
  expect_error([&] { setup(pairs, "shared", {}, traits::stores); }, "exchange nothing with each other");
  EXPECT_EQ(not_shared(schedule_of({4, 6, 8}, 4, pencils(2), pencils(1))), "");
  // Two of five ranks have no points.
  const Schedule few = schedule_of({3, 3, 8}, 5, Distribution::slab(0), Distribution::slab(1));
  EXPECT_EQ(not_shared(few), "");
  const Built made = setup(few, "shared", {}, traits::stores);
  EXPECT_TRUE(made.program(4).ops.empty());
  for (const Op& op : made.program(0).ops) EXPECT_LT(op.peer, 3);
  replay_shared(few);
}

/// Without its copies: what one rank has at both ends it transforms there.
TEST(Program, OfRanksThatShareOneArrayCopiesNothingButWhatNoFftCanMove) {
  using enum Transform;
  const auto slab = [](int a) { return Distribution::slab(a); };
  const auto copies = [](const Schedule& s) {
    return setup(s, "shared", {}, traits::stores).program(1).copies.size();
  };
  for (const AxisVector<Transform>& transforms :
       {AxisVector<Transform>{c2c, c2c, c2c}, {c2c, c2c, r2c}, {dct2, c2c, r2c}, {dct1, dst2, dct3}}) {
    const Schedule s = schedule_of({8, 9, 10}, 2, slab(0), slab(0), transforms);
    EXPECT_EQ(copies(s), 0U) << to_string(s);
    EXPECT_EQ(copies(inverse(s)), 0U) << to_string(s);
  }
  EXPECT_EQ(copies(schedule_of({8, 9, 10}, 8, Distribution::brick(), Distribution::brick())), 2U);
}

TEST(Program, Batches) {
  using enum Transform;
  const auto slab = [](int a) { return Distribution::slab(a); };
  for (const Pipelined& p :
       {Pipelined{"windowed", {}}, Pipelined{"windowed", {{"tile", 3}, {"window", 2}, {"fx", 2}}},
        Pipelined{"windowed", {{"items", 1}, {"tile", 2}, {"px", 1}, {"uz", 1}}},
        Pipelined{"windowed", {{"items", 2}, {"window", 1}}}, Pipelined{"th", {{"tile", 3}, {"fy", 3}}}})
    for (const ExchangeTraits& kind : {traits::dense, traits::stores, traits::boxes}) {
      replay_both_ways(batch_of(3, {16, 15, 14}, 5, slab(0), slab(1), {c2c, c2c, r2c}), p, kind, 1, 3);
      replay_both_ways(batch_of(2, {16, 16, 14}, 4, slab(0), slab(0), {c2c, r2c, c2c}), p, kind, 1, 3);
      replay_both_ways(batch_of(9, {8, 9, 10}, 6, slab(0), slab(1)), p, kind, 1, 2);
      replay_both_ways(batch_of(2, {12, 11, 10}, 8, Distribution::pencil(2), Distribution::pencil(0)), p,
                       kind, 1, 2);
      // The grids between cut the batch.
      replay_both_ways(batch_of(2, {16, 15, 14}, 6, slab(0), slab(0)), p, kind, 1, 3);
      replay_both_ways(batch_of(9, {8, 9, 10}, 6, slab(0), slab(1), {r2c, c2c, none}), p, kind, 1, 2);
    }
}

bool padding_fits(const Built& made) {
  const Placement place(made.schedule, made.choices, 8);
  for (int j = 0; j < place.reshapes(); ++j)
    if (!padding_misfit(place, j,
                        exchange_groups(*place.field_before(j).tiling, *place.field_after(j).tiling))
             .empty())
      return false;
  return true;
}

/// Bytes of the largest part that a program transforms or brings into the cache at a time.
Index largest_part(const Program& program) {
  Index most = 0;
  for (const FftCall& f : program.ffts)
    most = std::max({most, f.from_box.count() * f.from_bytes, f.to_box.count() * f.to_bytes});
  Index gathered = 0;  // what arrived packed and is only sent on
  for (const CopyCall& c : program.copies) {
    if (c.to.space == Space::scratch) gathered += c.box.count() * c.element_bytes;
    if (c.to.space != Space::scratch) gathered = 0;
    most = std::max(most, gathered);
  }
  return most;
}

/// Bytes of a reshape's parts that peers store in a rank's workspace and that are coded there.
Index most_coded(const Program& program) {
  Index most = 0;
  for (const ReshapeProgram& r : program.reshapes) {
    Index bytes = 0;
    for (const TileMessages& t : r.stored.tiles)
      for (const Message& m : t.receives)
        if (r.leg.codec) bytes += rounded_up<Index>(m.bytes, 2 * sizeof(double));
    most = std::max(most, bytes);
  }
  return most;
}

TEST(Program, RandomProblemsReplay) {
  std::array<int, 4> replayed{};
  int planes = 0, cut_items = 0, stored = 0, by_device = 0, sent_lying = 0, received_lying = 0,
      stored_coded = 0, diversions_found = 0;
  for (std::uint64_t seed = 1; seed <= 240; ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 11);
    const RandomProblem p = make_random_problem(seed, ranks, false);
    const Schedule forward = make_schedule(p.request(true));
    for (const Schedule& s : {forward, inverse(forward)})
      for (std::size_t k = 0; k < 4; ++k) {
        const ExchangeTraits& kind =
            *std::array{&traits::dense, &traits::padded, &traits::stores, &traits::boxes}[k];
        const bool by_planes = seed % 5 > (kind == traits::stores ? 0 : 2);
        const Pipeline& pipeline = find_pipeline(by_planes       ? (seed % 2 == 0 ? "planes" : "two-front")
                                                 : seed % 7 == 0 ? "th"
                                                                 : "windowed");
        PipelineRules rules;
        rules.subtile = 1024;
        rules.overlap = seed % 9 != 0;
        Built made{s, choose_pipeline(s, pipeline, random_parameters(seed, pipeline, {s}), rules)};
        for (Leg& c : made.choices) {
          c.traits = kind;
          c.traits.any_place = seed / 8 % 2 == 0;
          cut_items += c.item_axis() >= 0 ? 1 : 0;
          if (by_planes) std::get<Planes>(c.cut).subtile = 1024;
        }
        // Two kinds in one transform.
        if (by_planes && kind == traits::dense && seed % 3 == 0 && !made.choices.empty())
          made.choices.back().traits = seed % 2 == 0 ? traits::stores : traits::boxes;
        made.in_place = p.problem.in_place;
        // Streams kind everything packed or directly.
        made.two_lanes = seed % 4 == 1 && kind != traits::boxes;
        for (Leg& c : made.choices) {
          if (!made.two_lanes) continue;
          if (by_planes) {
            std::get<Planes>(c.cut).subtile = std::numeric_limits<Index>::max();
            auto& cut = std::get<Planes>(c.cut);
            const bool may_grow = cut.columns < 0 || made.choices.size() == 1;
            if (seed % 3 != 0)
              cut.thickness = seed % 3 == 1 || !may_grow ? Thickness::thin_first
                              : cut.cuts_after           ? Thickness::shrinking
                                                         : Thickness::growing;
          }
          if (!c.traits.stores && c.traits.form == Form::boxes) c.traits = traits::stores;
          const bool others_by_host = seed % 7 == 0 && &c != &made.choices.back();
          c.traits.by_device = c.traits.form == Form::dense && seed / 3 % 2 == 0 && !others_by_host;
          stored += kind == traits::stores ? 1 : 0;
          by_device += c.traits.by_device ? 1 : 0;
        }
        if (kind == traits::stores && (seed % 2 == 0 || seed % 8 == 1))
          for (int q = 0; q < ranks; ++q) made.nodes.push_back(q / (1 + static_cast<int>(seed % 3)));
        const bool codes = seed % 4 == 2 || (kind == traits::stores && (seed % 4 == 3 || seed % 8 == 5)) ||
                           (kind != traits::stores && seed % 16 == 9);
        for (Leg& c : made.choices)
          if (codes && (c.traits.stores ? made.nodes.empty() : c.traits.form != Form::boxes))
            c.codec = find_codec(std::array{"fp16", "fp32", "trim:20"}[seed % 3]);
        planes += by_planes && !made.choices.empty() ? 1 : 0;
        if (kind == traits::padded && !padding_fits(made)) continue;
        ++replayed[k];
        const ReplayReport report = replay(ranks, [&](int q) { return made.program(q); }, {seed, false, 2});
        EXPECT_EQ(report.bytes_sent, report.bytes_received);
        for (int q = 0; q < ranks && made.two_lanes; ++q) {
          const Program program = made.program(q);
          diversions_found += static_cast<int>(diversions(program).size());
          ASSERT_NO_THROW(check_program(diverted(program))) << p.describe() << to_string(diverted(program));
        }
        if (made.two_lanes) replay(ranks, [&](int q) { return diverted(made.program(q)); }, {seed, false, 2});
        for (int q = 0; q < ranks; ++q) {
          const Program program = made.program(q);
          ASSERT_NO_THROW(check_program(program)) << p.describe() << to_string(s) << to_string(program);
          for (const ReshapeProgram& r : program.reshapes)
            for (const TileMessages& t : r.sent.tiles) {
              sent_lying += r.leg.traits.form == Form::dense && !t.from.empty() ? 1 : 0;
              received_lying += r.leg.traits.form == Form::dense && !t.to.empty() ? 1 : 0;
            }
          const Index rounded = (program.largest_box_bytes + 63) / 64 * 64;
          const Index scratch = by_planes ? program.workspace_bytes - program.scratch_offset : 0;
          // What goes by messages waits in a third box; with planes the one that arrives needs no second.
          // Tiles depart from there as well, of one reshape from a box of their own.
          const bool direct = kind == traits::stores && made.nodes.empty();
          const bool one = made.choices.size() == 1;
          const Index boxes = !by_planes        ? 2
                              : !made.two_lanes ? (one ? 1 : 2) + (direct ? 0 : 1)
                              : one && direct   ? 2
                                                : 3;
          // Without planes what is stored and coded waits behind both boxes.
          const Index coded = by_planes ? 0 : aligned(most_coded(program));
          stored_coded += most_coded(program) > 0 ? 1 : 0;
          // The last tile of messages may be smaller than the others.
          const bool thin_last = std::ranges::any_of(made.choices, [](const Leg& c) {
            return c.planes() != nullptr &&
                   (c.planes()->columns >= 0 || c.planes()->thickness == Thickness::thin_last);
          });
          const Index uneven = thin_last && made.two_lanes && !direct ? rounded / 2 : 0;
          ASSERT_LE(program.workspace_bytes - scratch, boxes * rounded + uneven + coded) << p.describe();
          // Rows may be spread, and each of two areas is rounded up.
          ASSERT_LE(scratch, 2 * (2 * largest_part(program) + 64)) << p.describe();
        }
      }
  }
  EXPECT_GT(diversions_found, 50);
  for (int n : replayed) EXPECT_GT(n, 50);
  EXPECT_GT(planes, 50);
  EXPECT_GT(stored, 20);
  EXPECT_GT(by_device, 20);
  EXPECT_GT(sent_lying, 50);
  EXPECT_GT(received_lying, 50);
  EXPECT_GT(cut_items, 50);
  EXPECT_GT(stored_coded, 50);
}

TEST(Program, OneRankIsOneLocalTransformWhateverTheMemoryOrder) {
  using enum Transform;
  for (const Order& order : {Order{0, 1, 2}, Order{2, 1, 0}, Order{1, 2, 0}})
    for (const AxisVector<Transform>& transforms :
         {AxisVector<Transform>{c2c, c2c, c2c}, {c2c, r2c, c2c}, {none, c2c, r2c}}) {
      ScheduleRequest r;
      r.shape = {8, 9, 10};
      r.transforms = transforms;
      r.input = named_tiling(Distribution::slab(0), r.shape, 1, "input");
      r.output = named_tiling(Distribution::slab(0), output_shape(r.shape, transforms), 1, "output");
      r.input_orders = r.output_orders = {order};
      const Program p = build_program(make_schedule(r), {}, {0, 8, false, {}, {}});
      EXPECT_EQ(p.ops.size(), 1u);
      EXPECT_EQ(p.ffts.size(), 1u);
      EXPECT_EQ(p.workspace_bytes, 0);
    }
}

TEST(Program, BackwardIsTheMirrorOfForward) {
  const Schedule s = schedule_of({16, 16, 16}, 4, Distribution::slab(0), Distribution::slab(1));
  const Built forward = setup(s, "windowed", {{"tile", 4}, {"window", 2}}, traits::dense);
  const Built backward = setup(inverse(s), "windowed", {{"tile", 4}, {"window", 2}}, traits::dense);
  const auto kinds = [](const Program& p) {
    std::string text;
    for (const Op& op : p.ops)
      if (op.kind == OpKind::fft)
        text += p.ffts[static_cast<std::size_t>(op.call)].axes.size() == 1 ? 'f' : 'F';
    return text;
  };
  // Forward: z whole, y and x in 4 tiles each; backward: x and y in tiles, z whole at the end.
  EXPECT_EQ(kinds(forward.program(0)), "fffffffff");
  const Program f = forward.program(1), b = backward.program(1);
  EXPECT_EQ(f.ffts.front().axes, (AxisVector<int>{2}));
  EXPECT_EQ(b.ffts.back().axes, (AxisVector<int>{2}));
  EXPECT_EQ(f.ffts.size(), b.ffts.size());
  // Backward keeps its own part of each tile: its last FFT leaves the order alone, so that it lands in place.
  const auto copies = [](const Program& p) {
    const auto kept =
        std::count_if(p.ops.begin(), p.ops.end(), [](const Op& op) { return op.kind == OpKind::keep; });
    return static_cast<long>(p.copies.size()) + kept;  // packing and unpacking make one of each part
  };
  EXPECT_EQ(copies(f), copies(b));
}

TEST(Program, BackwardOfABatchIsTheMirrorAndHidesEachItemBehindOthers) {
  const Schedule s = batch_of(3, {16, 16, 16}, 4, Distribution::slab(0), Distribution::slab(1));
  const PipelineParameters values{{"tile", 8}, {"window", 1}};
  const Built forward = setup(s, "windowed", values, traits::dense);
  const Built backward = setup(inverse(s), "windowed", values, traits::dense);
  // The axis of each FFT, and the messages that are posted.
  const auto order = [](const Program& p) {
    std::string text;
    for (const Op& op : p.ops) {
      if (op.kind == OpKind::fft)
        text += static_cast<char>('x' + p.ffts[static_cast<std::size_t>(op.call)].axes[0]);
      if (op.kind == OpKind::post) text += '!';
    }
    return text;
  };
  const std::string text = order(forward.program(1));
  EXPECT_EQ(text,
            "zzy!"
            "y!x"
            "zzy!x"
            "y!x"
            "zzy!x"
            "y!x"
            "x");
  std::string mirrored = order(backward.program(1));
  std::erase(mirrored, '!');
  std::reverse(mirrored.begin(), mirrored.end());
  EXPECT_EQ(mirrored, "zzyyxzzyxyxzzyxyxx");
  for (int r = 0; r < 4; ++r) {
    check_program(forward.program(r));
    check_program(backward.program(r));
  }
}

TEST(Program, TheLastFftWorksInTheUsersArrayWhereItLeavesTheOrderAlone) {
  ScheduleRequest r;
  r.shape = {16, 16, 16};
  r.transforms = AxisVector<Transform>(3, Transform::c2c);
  r.ranks = 4;
  r.input = named_tiling(Distribution::slab(0), r.shape, 4, "input");
  r.output = named_tiling(Distribution::slab(1), r.shape, 4, "output");
  r.input_orders = {c_order(3)};
  for (const Order& order : {Order{1, 2, 0}, Order{1, 0, 2}}) {
    r.output_orders = {order};
    const Built made = setup(make_schedule(r), "windowed", {{"tile", 4}, {"window", 2}}, traits::dense);
    const Program p = made.program(1);
    const bool in_place = p.ffts.back().from.space == Space::output;
    EXPECT_EQ(in_place, (order == Order{1, 2, 0}));  // the order in which the exchange leaves the lines
    const auto kept =
        std::count_if(p.ops.begin(), p.ops.end(), [](const Op& op) { return op.kind == OpKind::keep; });
    EXPECT_EQ(kept, in_place ? 4 : 0);  // one for each tile
    check_program(p);
  }
}

}  // namespace weft::test
