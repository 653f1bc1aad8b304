// Pipelines planes and two-front: what their tiles cut, in which order they travel, and that backward is the
// mirror of forward in time.
#include <gtest/gtest.h>

#include <algorithm>

#include "program/builder.hpp"
#include "program/pipeline.hpp"
#include "program/stream_plan.hpp"
#include "schedule/planner.hpp"
#include "support/built.hpp"
#include "support/replay.hpp"
#include "support/schedule_request.hpp"
#include "traffic/tile_cut.hpp"

namespace weft::test {

namespace {

using enum Transform;

std::vector<Leg> choices_of(const Schedule& s, const char* pipeline, const PipelineParameters& values,
                            const ExchangeTraits& kind = traits::stores, bool overlap = true) {
  PipelineRules rules;
  rules.overlap = overlap;
  std::vector<Leg> choices = choose_pipeline(s, find_pipeline(pipeline), values, rules);
  for (Leg& c : choices) c.traits = kind;
  return choices;
}

/// Of rank 1, and every rank on a machine of its own.
Program program_of(const Schedule& s, const std::vector<Leg>& choices) {
  ProgramRequest request{1, 8, false, {}, {}};
  for (int r = 0; r < s.ranks; ++r) request.nodes.push_back(r);
  Program p = build_program(s, choices, request);
  check_program(p);
  return p;
}

/// The order of things: F for local FFTs of two axes, f for those of one, as often as they follow each other,
/// P for what is posted and R for what is received.
std::string order_of_events(const Program& p) {
  std::string text;
  for (const Op& op : p.ops) {
    char event = ' ';
    if (op.kind == OpKind::fft)
      event = p.ffts[static_cast<std::size_t>(op.call)].axes.size() == 2 ? 'F' : 'f';
    if (op.kind == OpKind::post) event = 'P';
    if (op.kind == OpKind::receive) event = 'R';
    const bool again = (event == 'F' || event == 'f') && !text.empty() && text.back() == event;
    if (event != ' ' && !again) text += event;
  }
  return text;
}

/// The same seen backward in time: what was received is sent.
std::string mirrored(std::string text) {
  std::reverse(text.begin(), text.end());
  for (char& c : text) c = c == 'P' ? 'R' : c == 'R' ? 'P' : c;
  return text;
}

}  // namespace

TEST(Planes, BackwardIsTheMirrorOfForwardInTime) {
  const Schedule s = make_schedule(request_of({16, 16, 16}, 4, Distribution::slab(0), Distribution::slab(1)));
  const PipelineParameters values{{"tile", 2}, {"subtile", 1}};
  const std::string forward = order_of_events(program_of(s, choices_of(s, "planes", values)));
  EXPECT_EQ(forward, "FPFPRRf");
  const Schedule back = inverse(s);
  EXPECT_EQ(order_of_events(program_of(back, choices_of(back, "planes", values))), mirrored(forward));
}

TEST(Planes, OnStreamsATileTravelsInRingOrderWhileTheNextIsTransformed) {
  const Schedule s = make_schedule(request_of({16, 16, 16}, 4, Distribution::slab(0), Distribution::slab(1)));
  const auto built = [](const Schedule& way) {
    PipelineRules rules;
    rules.tile_cost = 1;
    std::vector<Leg> choices = choose_pipeline(way, find_pipeline("planes"), {{"tile", 2}}, rules);
    for (Leg& c : choices) c.traits = traits::stores;
    ProgramRequest request{1, 8, false, {}, {}};
    request.two_lanes = true;
    Program p = build_program(way, choices, request);
    check_program(p);
    return p;
  };
  // Local FFTs of two axes and of one, parts and the rank that gets them, parts that are awaited.
  const auto text_of = [](const Program& p) {
    std::string text;
    for (const Op& op : p.ops) {
      if (op.kind == OpKind::fft)
        text += p.ffts[static_cast<std::size_t>(op.call)].axes.size() == 2 ? 'F' : 'f';
      if (op.kind == OpKind::put) text += std::to_string(op.peer);
      if (op.kind == OpKind::await_full) text += 'a';
    }
    return text;
  };
  const Program forward = built(s);
  EXPECT_EQ(text_of(forward), "F2301F2301aaaaaaf");
  EXPECT_EQ(text_of(built(inverse(s))), "f23012301aaaFaaaF");
  // What is transformed waits for nothing that travels; who waits for a peer has told its own peers before.
  const StreamPlan streams = plan_streams(forward);
  for (std::size_t i = 0; i < forward.ops.size(); ++i)
    if (forward.ops[i].lane == Lane::compute && forward.ops[i].kind != OpKind::await_full) {
      EXPECT_EQ(streams.steps[i].waits_begin, streams.steps[i].waits_end) << to_string(forward);
    }
  for (const CopyCall& c : forward.copies) EXPECT_NE(c.from.space, Space::scratch);
  EXPECT_EQ(forward.scratch_offset, forward.workspace_bytes);
}

TEST(Planes, OnStreamsFlagsAndPutsAreEnqueuedTogether) {
  const Schedule s = make_schedule(request_of({16, 16, 16}, 4, Distribution::slab(0), Distribution::slab(1)));
  const auto launches = [&](Index tile, bool stores) {
    PipelineRules rules;
    rules.tile_cost = 1;
    std::vector<Leg> choices = choose_pipeline(s, find_pipeline("planes"), {{"tile", tile}}, rules);
    choices[0].traits = traits::stores;
    choices[0].store_lane = stores ? Lane::compute : Lane::transfer;
    ProgramRequest request{1, 8, false, {}, {}};
    request.two_lanes = true;
    const Program p = build_program(s, choices, request);
    const StreamPlan plan = plan_streams(p);
    std::string text;
    int next = 0;
    for (const StreamPlan::Launch& launch : plan.launches) {
      EXPECT_EQ(launch.first, next);
      next += launch.count;
      const auto id = static_cast<std::size_t>(plan.order[static_cast<std::size_t>(launch.first)]);
      text += std::string(text.empty() ? "" : " ") + (p.ops[id].lane == Lane::compute ? "" : "/") +
              name_of(p.ops[id].kind) + std::to_string(launch.count);
    }
    EXPECT_EQ(next, static_cast<int>(p.ops.size()));
    return text;
  };
  // One stream; puts and what is signalled behind them are one operation for it.
  EXPECT_EQ(launches(4, true), "signal_free1 fft1 await_free3 put7 await_full3 fft1");
  // The rank's own part is copied where it computes. Signals, and the next tile's waits for room, are apart.
  EXPECT_EQ(
      launches(2, false),
      "signal_free2 fft1 /await_free3 /put6 put1 fft1 /await_free3 /put6 put1 await_full3 await_full3 fft1");
}

TEST(Planes, WithTwoWorkspacesWhoGetsSomethingHasToHaveSentSomething) {
  const auto built = [](const Schedule& s, int rank) {
    PipelineRules rules;
    rules.tile_cost = 1 << 30;
    std::vector<Leg> choices = choose_pipeline(s, find_pipeline("planes"), {}, rules);
    for (Leg& c : choices) c.traits = traits::stores;
    ProgramRequest request{rank, 8, false, {}, {}};
    request.two_lanes = true;
    return build_program(s, choices, request);
  };
  const Distribution slab = Distribution::slab(0);
  const Schedule s = make_schedule(request_of({16, 16, 16}, 4, slab, Distribution::slab(1)));
  EXPECT_TRUE(finds_room(built(s, 1), built(s, 1)));
  EXPECT_TRUE(finds_room(built(s, 1), built(inverse(s), 1)));
  // Rank 0 gets all, and sends nothing to anybody else.
  std::vector<Box> all(4, Box{{0, 0, 0}, {0, 0, 0}});
  all[0] = {{0, 0, 0}, {16, 16, 16}};
  const AxisVector<Transform> last{Transform::none, Transform::none, Transform::c2c};
  ScheduleRequest request = request_of({16, 16, 16}, 4, slab, slab, last);
  request.output = std::make_shared<const Tiling>(Tiling::from_boxes({16, 16, 16}, all));
  const Schedule one = make_schedule(request);
  ASSERT_EQ(reshape_stages(one).size(), 1U);
  EXPECT_TRUE(finds_room(built(one, 0), built(one, 0)));
  EXPECT_FALSE(finds_room(built(one, 1), built(one, 1)));
  EXPECT_TRUE(finds_room(built(one, 1), built(inverse(one), 1)));
  const Program p = built(s, 1);
  const StreamPlan plan = plan_streams(p, 1);
  for (const int id : plan.order) {
    EXPECT_NE(p.ops[static_cast<std::size_t>(id)].kind, OpKind::await_free);
    EXPECT_NE(p.ops[static_cast<std::size_t>(id)].kind, OpKind::signal_free);
  }
}

TEST(Planes, OnStreamsNaturalOutputIsCopiedAsItArrives) {
  const Schedule s = make_schedule(request_of({16, 32, 16}, 4, Distribution::slab(0), Distribution::slab(0)));
  PipelineRules rules;
  rules.tile_cost = 1;
  std::vector<Leg> choices = choose_pipeline(s, find_pipeline("planes"), {{"tile", 2}}, rules);
  for (Leg& c : choices) c.traits = traits::stores;
  ProgramRequest request{1, 8, false, {}, {}};
  request.two_lanes = true;
  const Program p = build_program(s, choices, request);
  check_program(p);
  // Of the last reshape: parts that are awaited, and copies of these to the user's array. What stays on the
  // rank has been put there before.
  std::string text;
  for (const Op& op : p.ops) {
    if (op.reshape != 1) continue;
    if (op.kind == OpKind::await_full) text += 'a';
    if (op.kind == OpKind::copy) text += 'c';
    if (op.kind == OpKind::put && op.peer == 1) {
      EXPECT_EQ(p.copies[static_cast<std::size_t>(op.call)].to.space, Space::output);
      text += 'p';
    }
  }
  EXPECT_EQ(text, "ppppaaacccaaacccaaacccaaaccc");
}

TEST(Planes, OnStreamsOnlyAnFftWithoutAnotherExchangeHasAFront) {
  PipelineRules streams;
  streams.tile_cost = 1;
  const auto fronts = [&](const Distribution& out, const PipelineParameters& asked, bool forward) {
    const Schedule s = make_schedule(request_of({16, 32, 16}, 4, Distribution::slab(0), out));
    std::vector<bool> found;
    for (const Leg& c : choose_pipeline(forward ? s : inverse(s), find_pipeline("two-front"), asked, streams))
      found.push_back(c.planes()->columns >= 0);
    return found;
  };
  for (const bool forward : {true, false}) {
    EXPECT_EQ(fronts(Distribution::slab(1), {}, forward), (std::vector<bool>{true}));
    EXPECT_EQ(fronts(Distribution::slab(0), {}, forward), (std::vector<bool>{false, false}));
    EXPECT_EQ(fronts(Distribution::slab(0), {{"front", 60}}, forward), (std::vector<bool>{true, true}));
  }
}

TEST(Planes, TilesForStreamsAreNotTooSmall) {
  const Schedule s = make_schedule(request_of({64, 16, 16}, 2, Distribution::slab(0), Distribution::slab(1)));
  const auto tile = [&](Index cost, const PipelineParameters& asked = {}) {
    PipelineRules rules;
    rules.tile_cost = cost;
    return choose_pipeline(s, find_pipeline("planes"), asked, rules)[0].tile;
  };
  constexpr Index box = 32 * 16 * 16 * 16;
  EXPECT_EQ(tile(1), 4);  // an eighth
  EXPECT_EQ(tile(box / 9), 11);
  EXPECT_EQ(tile(box / 4), 16);
  EXPECT_EQ(tile(box), 32);
  EXPECT_EQ(tile(1000 * box), 32);
  EXPECT_EQ(tile(1000 * box, {{"tile", 3}}), 3);
  EXPECT_ANY_THROW(tile(1, {{"subtile", 64}}));
}

TEST(Planes, TilesEndWhereTheirThicknessSays) {
  using enum Thickness;
  const auto ends = [](Index extent, Index tile, Thickness thickness) {
    return ends_of_tiles(extent, tile, thickness);
  };
  EXPECT_EQ(ends(10, 4, thin_last), (std::vector<Index>{4, 8, 10}));
  EXPECT_EQ(ends(10, 4, thin_first), (std::vector<Index>{2, 6, 10}));
  EXPECT_EQ(ends(256, 64, growing), (std::vector<Index>{25, 76, 153, 256}));
  EXPECT_EQ(ends(256, 64, shrinking), (std::vector<Index>{103, 180, 231, 256}));
  for (const Thickness thickness : {thin_last, thin_first, growing, shrinking})
    for (Index extent = 1; extent <= 40; ++extent)
      for (Index tile = 1; tile <= extent; ++tile) {
        std::vector<Index> all = ends(extent, tile, thickness), thick;
        EXPECT_EQ(static_cast<Index>(all.size()), (extent + tile - 1) / tile);
        EXPECT_EQ(all.back(), extent);
        for (std::size_t i = 0; i < all.size(); ++i) thick.push_back(all[i] - (i > 0 ? all[i - 1] : 0));
        EXPECT_GT(std::ranges::min(thick), 0) << extent << " " << tile;
        const bool last = thickness == growing || thickness == thin_first;
        EXPECT_EQ(last ? thick.back() : thick.front(), std::ranges::max(thick)) << extent << " " << tile;
      }
}

TEST(Planes, WithoutOverlapEachTileIsAwaitedAtOnce) {
  const Schedule s = make_schedule(request_of({16, 16, 16}, 4, Distribution::slab(0), Distribution::slab(1)));
  const Program p =
      program_of(s, choices_of(s, "planes", {{"tile", 2}, {"subtile", 1}}, traits::stores, false));
  EXPECT_EQ(order_of_events(p), "FPRFPRf");
  for (const Op& op : p.ops) EXPECT_EQ(op.tests, 0);
  const Program overlapped = program_of(s, choices_of(s, "planes", {}));
  for (const Op& op : overlapped.ops) EXPECT_EQ(op.tests, 1);
}

TEST(Planes, TilesCutTheSameOfAFieldInBothDirections) {
  const auto slab = [](int a) { return Distribution::slab(a); };
  const auto pencil = [](int a) { return Distribution::pencil(a); };
  const std::vector<std::pair<Distribution, Distribution>> sides{{slab(0), slab(1)},
                                                                 {slab(0), slab(0)},
                                                                 {slab(1), slab(0)},
                                                                 {pencil(2), pencil(0)},
                                                                 {pencil(2), slab(2)}};
  bool receives = false;
  for (const auto& [in, out] : sides)
    for (const AxisVector<Transform>& transforms :
         {AxisVector<Transform>{c2c, c2c, c2c}, {c2c, c2c, r2c}, {c2c, dct2, c2c}}) {
      const Schedule s = make_schedule(request_of({12, 14, 16}, 4, in, out, transforms));
      std::vector<Leg> back = choices_of(inverse(s), "planes", {});
      std::reverse(back.begin(), back.end());
      const std::vector<Leg> forward = choices_of(s, "planes", {});
      for (std::size_t j = 0; j < forward.size(); ++j) {
        EXPECT_EQ(forward[j].planes()->cuts_after, !back[j].planes()->cuts_after) << to_string(s);
        EXPECT_EQ(forward[j].axis, back[j].axis) << to_string(s);
        EXPECT_EQ(forward[j].tile, back[j].tile);
        EXPECT_EQ(forward[j].tiles, back[j].tiles);
        receives = receives || forward[j].planes()->cuts_after;
      }
    }
  EXPECT_TRUE(receives);  // where the FFT behind has more axes
}

TEST(TwoFront, TheRestFollowsThePlanesAndComesFirstInBackward) {
  const Schedule s = make_schedule(request_of({16, 16, 16}, 4, Distribution::slab(0), Distribution::slab(1)));
  const PipelineParameters values{{"tile", 2}, {"subtile", 1}, {"front", 50}, {"rest", 2}};
  const std::string forward = order_of_events(program_of(s, choices_of(s, "two-front", values)));
  // Two tiles of planes, two of the rest; the front, and each of the rest, is transformed once it is there.
  EXPECT_EQ(forward, "FPFPPPRRfRfRf");
  const Schedule back = inverse(s);
  EXPECT_EQ(order_of_events(program_of(back, choices_of(back, "two-front", values))), mirrored(forward));
}

TEST(TwoFront, SendsThePartsOfPlanesInOtherTiles) {
  const Schedule s = make_schedule(request_of({20, 16, 12}, 4, Distribution::slab(0), Distribution::slab(1)));
  for (const ExchangeTraits& kind : {traits::dense, traits::boxes, traits::stores})
    for (const Schedule& way : {s, inverse(s)}) {
      const auto bytes = [&](const char* pipeline, std::size_t* tiles) {
        const Program p = program_of(way, choices_of(way, pipeline, {{"tile", 2}}, kind));
        Index sent = 0;
        *tiles = p.reshapes[0].sent.tiles.size();
        for (const TileMessages& t : p.reshapes[0].sent.tiles)
          for (const Message& m : t.sends)
            if (m.peer != p.rank) sent += m.bytes;
        return sent;
      };
      std::size_t planes = 0, two_front = 0;
      EXPECT_EQ(bytes("planes", &planes), bytes("two-front", &two_front));
      EXPECT_EQ(two_front, planes + 1);  // a rest of one column
    }
}

}  // namespace weft::test
