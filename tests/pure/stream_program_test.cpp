// Programs of devices: replayed, and what memory and copies they take.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "program/builder.hpp"
#include "program/diversions.hpp"
#include "program/pipeline.hpp"
#include "support/built.hpp"
#include "support/diverted.hpp"
#include "support/replay.hpp"
#include "traffic/placement.hpp"

namespace weft::test {

namespace {

/// Points that FFTs store on peers. All that they store elsewhere are those of the copies that are left out.
Index stored_on_peers(const Program& program) {
  Index stored = 0, left_out = 0, on_peers = 0;
  for (const Diversion& d : diversions(program, Diverted::puts)) {
    for (const int i : d.copies)
      left_out +=
          program.copies[static_cast<std::size_t>(program.ops[static_cast<std::size_t>(i)].call)].box.count();
    for (const Diversion::Part& part : d.parts)
      for (const Diversion::Piece& piece : part.pieces) {
        stored += piece.box.count();
        on_peers += piece.to_rank >= 0 ? piece.box.count() : 0;
        EXPECT_NE(piece.to_rank, program.rank);
      }
  }
  EXPECT_EQ(stored, left_out) << to_string(program);
  return on_peers;
}

/// A c2c schedule and those that backward may have.
std::vector<Schedule> with_those_backward(const Schedule& forward) {
  std::vector<Schedule> all{forward, inverse(forward)};
  if (serves_both_ways(forward)) all.push_back(in_same_order(forward));
  return all;
}

/// Operations of the first reshape on the transfer lane: those that are over when the first FFT behind it
/// begins, and all.
std::pair<int, int> moves_before_ffts(const Program& program, const Schedule& schedule) {
  std::vector<bool> over(program.ops.size(), false);
  const auto op_at = [&](std::size_t i) -> const Op& { return program.ops[i]; };
  const auto reshape = std::ranges::find(schedule.stages, Stage::Kind::reshape, &Stage::kind);
  const auto stage = static_cast<int>(reshape - schedule.stages.begin()) + 1;
  std::size_t first = 0;
  while (op_at(first).kind != OpKind::fft || op_at(first).stage != stage) ++first;
  std::vector<std::size_t> found{first};
  const auto add = [&](std::size_t i) {
    if (!over[i]) found.push_back(i);
    over[i] = true;
  };
  while (!found.empty()) {
    const std::size_t now = found.back();
    found.pop_back();
    for (int d = op_at(now).deps_begin; d < op_at(now).deps_end; ++d)
      add(static_cast<std::size_t>(program.deps[static_cast<std::size_t>(d)]));
    std::size_t before = now;
    while (before > 0 && op_at(--before).lane != op_at(now).lane) continue;
    if (op_at(before).lane == op_at(now).lane && before != now) add(before);
  }
  std::pair<int, int> counted;
  for (std::size_t i = 0; i < program.ops.size(); ++i)
    if (op_at(i).lane == Lane::transfer && op_at(i).reshape == 0)
      counted.first += over[i] ? 1 : 0, ++counted.second;
  return counted;
}

Built tiles_of_devices(const Schedule& schedule, const ExchangeTraits& kind) {
  PipelineRules of_devices;
  of_devices.tile_cost = 1;
  of_devices.in_messages = kind != traits::stores;
  Built made = setup(schedule, "planes", {{"tile", 4}}, kind, of_devices);
  made.two_lanes = true;
  for (Leg& leg : made.choices) leg.traits.any_place = leg.traits.by_device = kind != traits::stores;
  return made;
}

}  // namespace

/// Of what leaves in the first exchange, most is still on its way when FFTs behind it begin.
TEST(Program, DevicesWaitForWhatTheyOverwriteAlone) {
  const Distribution slab = Distribution::slab(0), brick = Distribution::brick();
  const AxisVector<Transform> c2c(3, Transform::c2c), real{Transform::c2c, Transform::c2c, Transform::r2c};
  for (const auto& transforms : {c2c, real}) {
    const auto backward = [&](const Distribution& users) {
      ScheduleRequest request = request_of({32, 32, 32}, 2, users, users, transforms);
      request.contiguous = request.shared_axes_first = false;  // as on GPUs
      return inverse(make_schedule(request));
    };
    const Schedule slabs = backward(slab), bricks = backward(brick);
    for (int q = 0; q < 2; ++q) {
      // No FFT before the first exchange; messages of the second one begin behind those of the first.
      const Program by_messages = tiles_of_devices(slabs, traits::dense).program(q);
      const auto [over, all] = moves_before_ffts(by_messages, slabs);
      EXPECT_GT(all, 3);
      EXPECT_LT(2 * over, all) << to_string(by_messages);
      // What stays in the last exchange is read where FFTs have left it.
      EXPECT_TRUE(std::ranges::none_of(by_messages.ops, [](const Op& op) { return op.kind == OpKind::keep; }))
          << to_string(by_messages);
      // FFTs before both exchanges: results take the memory where those before were left.
      const Program direct = tiles_of_devices(bricks, traits::stores).program(q);
      const auto [put, puts] = moves_before_ffts(direct, bricks);
      EXPECT_GT(puts, 3);
      EXPECT_LT(put, puts) << to_string(direct);
    }
  }
}

TEST(Program, PlanesOfDevicesTakeThreeBoxesWhateverCarriesThem) {
  const Distribution slab = Distribution::slab(0), brick = Distribution::brick();
  struct Case {
    Schedule schedule;
    const char* pipeline;
    PipelineParameters values;
  };
  std::vector<Case> cases;
  for (const int tile : {2, 3, 5, 7, 8}) {  // of 8 planes
    cases.push_back({schedule_of({32, 32, 48}, 4, slab, slab), "planes", {{"tile", tile}}});
    cases.push_back({schedule_of({32, 32, 48}, 4, slab, Distribution::slab(1)), "planes", {{"tile", tile}}});
  }
  const Distribution pencil = Distribution::pencil(2);
  for (const int tile : {2, 3, 4, 5}) {  // of 8 or 16
    cases.push_back(
        {schedule_of({32, 32, 32}, 4, pencil, Distribution::pencil(0)), "planes", {{"tile", tile}}});
    cases.push_back({schedule_of({32, 32, 32}, 4, pencil, pencil), "planes", {{"tile", tile}}});
    cases.push_back(
        {schedule_of({32, 32, 32}, 16, pencil, Distribution::pencil(0)), "planes", {{"tile", tile}}});
  }
  for (const int tile : {2, 3})  // of 4
    cases.push_back({schedule_of({32, 32, 32}, 8, brick, brick), "planes", {{"tile", tile}}});
  cases.push_back(
      {schedule_of({32, 32, 48}, 4, slab, slab), "two-front", {{"tile", 2}, {"front", 50}, {"rest", 2}}});
  for (const Between between : {Between::modes, Between::points})
    for (const Distribution& users : {slab, pencil, brick}) {
      ScheduleRequest with_operator = request_of({32, 32, 48}, 4, users, users);
      with_operator.between = between;
      for (const int tile : {2, 3, 4})  // of 8 or 12
        cases.push_back({make_schedule(with_operator), "planes", {{"tile", tile}}});
    }
  // Rows of real numbers have room for complex ones. Tiles are as thick as the rule says: n/2+1 modes do not
  // divide evenly among ranks.
  const auto add_real = [&](ScheduleRequest request, const PipelineParameters& values = {}) {
    request.shared_axes_first = false;
    for (const bool contiguous : {false, true}) {
      request.contiguous = contiguous;
      for (const char* pipeline : {"planes", "two-front"})
        cases.push_back({make_schedule(request), pipeline, values});
    }
  };
  const AxisVector<Transform> real{Transform::c2c, Transform::c2c, Transform::r2c};
  for (const Distribution& in : {slab, Distribution::slab(2), pencil, Distribution::pencil(0)})
    for (const Distribution& out : {slab, Distribution::slab(1), Distribution::pencil(0), pencil})
      add_real(request_of({32, 32, 48}, 4, in, out, real));
  for (const int ranks : {2, 4, 8}) add_real(request_of({32, 32, 32}, ranks, brick, brick, real));
  add_real(request_of({32, 32, 48}, 4, slab, slab, real), {{"tile", 2}});
  for (const Between between : {Between::modes, Between::points})
    for (const Distribution& users : {slab, pencil, brick}) {
      ScheduleRequest with_operator = request_of({32, 32, 48}, 4, users, users, real);
      with_operator.between = between;
      if (between == Between::points)
        with_operator.input = with_operator.output;
      else
        with_operator.output = with_operator.input;
      add_real(with_operator);
    }
  for (const Case& c : cases)
    for (const Schedule& s : with_those_backward(c.schedule))
      for (const auto& [any_place, in_place] :
           {std::pair(false, false), {false, true}, {true, false}, {true, true}})
        for (const ExchangeTraits& kind : {traits::dense, traits::stores}) {
          PipelineRules of_devices;
          of_devices.tile_cost = 1;
          of_devices.in_messages = kind != traits::stores;
          Built made = setup(s, c.pipeline, c.values, kind, of_devices);
          made.two_lanes = true;
          made.in_place = in_place;
          if (kind == traits::stores)
            for (int q = 0; q < s.ranks; ++q) made.nodes.push_back(q / 2);
          for (Leg& leg : made.choices)
            leg.traits.any_place = leg.traits.by_device = any_place && kind != traits::stores;
          const ReplayReport report = replay(s.ranks, [&](int q) { return made.program(q); }, {11, false, 3});
          EXPECT_EQ(report.bytes_sent, report.bytes_received);
          for (int q = 0; q < s.ranks; ++q) {
            const Program program = made.program(q);
            ASSERT_NO_THROW(check_program(program)) << to_string(program);
            EXPECT_LE(program.workspace_bytes, 3 * aligned(program.largest_box_bytes)) << to_string(program);
          }
        }
}

TEST(Placement, RealRowsLieInComplexOnes) {
  const AxisVector<Transform> real{Transform::c2c, Transform::r2c};
  const auto place = [](Element element, Index row, const Strides& strides) {
    const int bytes = element == Element::real ? 8 : 16;
    return Place{Space::work, 64, Box{{3, 0}, {8, row}}, strides, bytes, element};
  };
  const Place reals = place(Element::real, 15, {16, 1}), modes = place(Element::complex, 8, {8, 1});
  for (const auto& [result, source] : {std::pair(modes, reals), std::pair(reals, modes)}) {
    const std::optional<Place> seen = seen_before(result, source, real);
    ASSERT_TRUE(seen);
    EXPECT_TRUE(lie_alike(*seen, result, real));
    EXPECT_EQ(seen->box, source.box);
    EXPECT_EQ(seen->strides, source.strides);
    EXPECT_EQ(seen->element_bytes, source.element_bytes);
    EXPECT_EQ(seen->element, source.element);
  }
  EXPECT_EQ(seen_before(reals, reals, real)->strides, reals.strides);
  EXPECT_FALSE(seen_before(place(Element::real, 15, {15, 1}), modes, real)) << "complex rows overlap";
  EXPECT_FALSE(seen_before(place(Element::real, 15, {17, 1}), modes, real)) << "half an element";
  EXPECT_FALSE(seen_before(place(Element::complex, 8, {1, 5}), reals, real)) << "the other axis is faster";
}

TEST(Program, WhatFftsStoreOnPeersIsAllOfThePutsOfPartsThatAreAlike) {
  for (int ranks = 2; ranks <= 4; ++ranks)
    for (const bool natural : {false, true}) {
      const Shape shape{12, 24, 10};
      const auto built = [&](const ExchangeTraits& kind, Lane puts) {
        const Distribution in = Distribution::slab(0), out = natural ? in : Distribution::slab(1);
        Built b = setup(schedule_of(shape, ranks, in, out), "sequential", {}, kind);
        for (Leg& leg : b.choices) leg.store_lane = puts;
        return b;
      };
      for (int q = 0; q < ranks; ++q) {
        const auto stored = [&](const Built& b) { return stored_on_peers(b.program(q)); };
        EXPECT_EQ(stored(built(traits::stores, Lane::compute)), 12 * 24 * 10 * (ranks - 1) / (ranks * ranks));
        EXPECT_EQ(stored(built(traits::stores, Lane::transfer)), 0);
        EXPECT_EQ(stored(built(traits::dense, Lane::compute)), 0);
      }
    }
}

/// Where parts leave before any FFT, what stays on the rank is read from the user's array once, and copied to
/// no place on the way; in place it is copied, as the array is overwritten.
TEST(Program, WhatStaysIsReadWhereItLies) {
  const Distribution brick = Distribution::brick();
  const Transform c2c = Transform::c2c, r2c = Transform::r2c;
  PipelineRules of_devices;
  of_devices.tile_cost = 1;
  of_devices.in_messages = true;
  for (const Transform last : {c2c, r2c})
    for (const bool lanes : {true, false})
      for (const bool in_place : {false, true}) {
        const Schedule forward = schedule_of({32, 32, 32}, 8, brick, brick, {c2c, c2c, last});
        Built made =
            setup(forward, "planes", {{"tile", 2}}, traits::dense, lanes ? of_devices : PipelineRules{});
        made.two_lanes = lanes;
        made.in_place = in_place;
        const Program program = made.program(0);
        const Box mine = forward.input().box(0), next = forward.fields[1].box(0), own = intersect(mine, next);
        ASSERT_FALSE(own.empty());
        Index kept = 0, read = 0;
        for (const Op& op : program.ops) {
          const bool first = op.kind == OpKind::keep && op.reshape == 0;
          if (first) kept += program.copies[static_cast<std::size_t>(op.call)].box.count();
          if (op.kind != OpKind::copy && op.kind != OpKind::fft) continue;
          const auto call = static_cast<std::size_t>(op.call);
          const bool copies = op.kind == OpKind::copy;
          const Space from = copies ? program.copies[call].from.space : program.ffts[call].from.space;
          if (from != Space::input) continue;
          read += copies ? program.copies[call].box.count() : program.ffts[call].from_box.count();
        }
        EXPECT_EQ(kept + read, own.count()) << to_string(program);
        if (in_place || lanes) {
          EXPECT_EQ(in_place ? read : kept, 0) << to_string(program);
        }
      }
}

TEST(Program, BetweenExchangesOfDevicesFftsGoOnTileByTile) {
  const Distribution slab = Distribution::slab(2);
  PipelineRules of_devices;
  of_devices.tile_cost = 1;
  of_devices.in_messages = true;
  Built made =
      setup(schedule_of({24, 32, 48}, 2, slab, slab), "planes", {{"tile", 4}}, traits::dense, of_devices);
  made.two_lanes = true;
  for (Leg& leg : made.choices) leg.traits.any_place = leg.traits.by_device = true;
  for (const int q : {0, 1, 2, 3}) {
    made.in_place = q >= 2;
    const Program program = made.program(q % 2);
    // FFTs wait for what arrives, and never for what leaves: devices carry the second exchange behind the
    // first one.
    const auto is = [](OpKind kind) { return [=](const Op& op) { return op.kind == kind; }; };
    const auto first_wait = std::ranges::find_if(program.ops, is(OpKind::wait_sent));
    EXPECT_EQ(std::count_if(first_wait, program.ops.end(), is(OpKind::wait_sent)),
              program.ops.end() - first_wait)
        << to_string(program);
    // All that is packed and all that stays is stored by FFTs: along axis 0, then along axis 2 of each tile.
    const std::vector<Diversion> found = diversions(program);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].parts.size(), 1U);
    EXPECT_EQ(found[1].parts.size(), 3U);
    for (const Diversion& d : found) {
      EXPECT_EQ(d.copies.size(), 6U);
      for (const Diversion::Part& part : d.parts) EXPECT_EQ(part.pieces.size(), 2U);
    }
    EXPECT_NO_THROW(check_program(diverted(program)));
    // What has arrived last is brought to the user's array tile by tile as well.
    const auto awaits_twice = std::ranges::adjacent_find(program.ops, [](const Op& a, const Op& b) {
      return a.kind == OpKind::receive && b.kind == OpKind::receive;
    });
    EXPECT_EQ(awaits_twice, program.ops.end()) << to_string(program);
  }
}

TEST(Program, PlanesOnStreamsDoNotPackPartsOfOnePieceWhereTheExchangeTakesThem) {
  const auto forward_on = [](int ranks, Index last) {
    ScheduleRequest request = request_of({16, 16, last}, ranks, Distribution::slab(0), Distribution::slab(1));
    request.contiguous = false;
    return make_schedule(request);
  };
  const Schedule forward = forward_on(4, 16);
  const auto built = [](const Schedule& s) {
    Built made = setup(s, "planes", {{"tile", 2}}, traits::dense);
    made.two_lanes = true;
    for (Leg& c : made.choices) {
      c.traits.any_place = true;
      std::get<Planes>(c.cut).subtile = std::numeric_limits<Index>::max();
    }
    Program p = made.program(1);
    check_program(p);
    return p;
  };
  const auto count = [](const Program& p, OpKind kind) {
    return std::count_if(p.ops.begin(), p.ops.end(), [&](const Op& op) { return op.kind == kind; });
  };
  const Program f = built(forward), b = built(inverse(forward));
  EXPECT_EQ(count(f, OpKind::pack), 2 * 3);
  EXPECT_EQ(count(f, OpKind::unpack), 0);
  EXPECT_EQ(count(b, OpKind::pack), 0);
  // FFTs along the last axis read each part where it has arrived, if there are few, and kernels for its
  // length.
  EXPECT_EQ(count(b, OpKind::unpack), 0);
  EXPECT_EQ(count(b, OpKind::fft), 1 + 2 * (4 + 1));
  const Program of_many = built(inverse(forward_on(8, 16))), of_eleven = built(inverse(forward_on(4, 22)));
  EXPECT_EQ(count(of_many, OpKind::unpack), 7);
  EXPECT_EQ(count(of_many, OpKind::fft), 1 + 1);
  EXPECT_EQ(count(of_eleven, OpKind::unpack), 2 * 3);
  EXPECT_EQ(count(of_eleven, OpKind::fft), 1 + 2);
  // Backward posts all tiles at once; each is then received by itself.
  for (const Program& p : {f, b}) {
    std::vector<int> posts;
    for (std::size_t i = 0; i < p.ops.size(); ++i) {
      const Op& op = p.ops[i];
      if (op.kind == OpKind::post) posts.push_back(static_cast<int>(i));
      if (op.kind != OpKind::receive) continue;
      const auto first = p.deps.begin() + op.deps_begin, last = p.deps.begin() + op.deps_end;
      for (std::size_t k = 0; k < posts.size(); ++k)
        EXPECT_EQ(std::find(first, last, posts[k]) != last, k == static_cast<std::size_t>(op.tile));
    }
    EXPECT_EQ(posts.size(), 2u);
  }
}

}  // namespace weft::test
