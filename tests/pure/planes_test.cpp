// Pipelines planes and two-front: what their tiles cut, in which order they travel, and that backward is the
// mirror of forward in time.
#include <gtest/gtest.h>

#include <algorithm>

#include "program/builder.hpp"
#include "program/pipeline.hpp"
#include "program/replay.hpp"
#include "schedule/planner.hpp"
#include "support/schedule_request.hpp"

namespace weft::test {

namespace {

using enum Transform;

std::vector<ReshapeChoice> choices_of(const Schedule& s, const char* pipeline,
                                      const PipelineParameters& values, Carry carry = Carry::direct,
                                      bool overlap = true) {
  PipelineRules rules;
  rules.overlap = overlap;
  std::vector<ReshapeChoice> choices = choose_pipeline(s, find_pipeline(pipeline), values, rules);
  for (ReshapeChoice& c : choices) c.carry = carry;
  return choices;
}

/// Of rank 1, and every rank on a machine of its own.
Program program_of(const Schedule& s, const std::vector<ReshapeChoice>& choices) {
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

TEST(Planes, WithoutOverlapEachTileIsAwaitedAtOnce) {
  const Schedule s = make_schedule(request_of({16, 16, 16}, 4, Distribution::slab(0), Distribution::slab(1)));
  const Program p =
      program_of(s, choices_of(s, "planes", {{"tile", 2}, {"subtile", 1}}, Carry::direct, false));
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
      std::vector<ReshapeChoice> back = choices_of(inverse(s), "planes", {});
      std::reverse(back.begin(), back.end());
      const std::vector<ReshapeChoice> forward = choices_of(s, "planes", {});
      for (std::size_t j = 0; j < forward.size(); ++j) {
        EXPECT_EQ(forward[j].cuts_after, !back[j].cuts_after) << to_string(s);
        EXPECT_EQ(forward[j].axis, back[j].axis) << to_string(s);
        EXPECT_EQ(forward[j].tile, back[j].tile);
        EXPECT_EQ(forward[j].tiles, back[j].tiles);
        receives = receives || forward[j].cuts_after;
      }
    }
  EXPECT_TRUE(receives);  // where the FFT behind has more axes
}

}  // namespace weft::test
