// Local transforms cut into embedded calls: what libraries ask of such calls, and how few there are.
#include <gtest/gtest.h>

#include <random>

#include "fft/embedded.hpp"
#include "support/embedded_rules.hpp"
#include "support/local_problem.hpp"

namespace weft::test {

namespace {

/// A dense array in C order, the last axis real on one side for kind real.
FftProblem dense(std::vector<Index> n, FftKind kind, Direction direction) {
  FftProblem p;
  p.kind = kind;
  p.direction = direction;
  Index from = 1, to = 1;
  for (std::size_t i = n.size(); i-- > 0;) {
    p.dimensions.insert(p.dimensions.begin(), {n[i], from, to});
    const bool halved = kind == FftKind::real && i + 1 == n.size();
    const bool forward = direction == Direction::forward;
    from *= halved && !forward ? n[i] / 2 + 1 : n[i];
    to *= halved && forward ? n[i] / 2 + 1 : n[i];
  }
  return p;
}

}  // namespace

TEST(Embedded, EveryCallKeepsToWhatTheLibraryAsks) {
  std::mt19937_64 random(3);
  int calls = 0, whole = 0;
  for (int i = 0; i < 600; ++i) {
    const FftProblem problem = random_local_problem(random).fft;
    if (!unable_to_embed(problem).empty()) continue;
    for (const EmbeddedStep& s : embed(problem).steps) {
      ++calls;
      whole += s.call.batch == 1 ? 1 : 0;
      ASSERT_EQ(refused(s.call), "") << to_string(s.call);
    }
  }
  EXPECT_GT(calls, 500);
  EXPECT_GT(whole, 20);
}

TEST(Embedded, AnArrayByItselfIsOneCallWithADistance) {
  for (const FftKind kind : {FftKind::c2c, FftKind::real})
    for (const Direction d : {Direction::forward, Direction::backward})
      for (const std::vector<Index>& n : {std::vector<Index>{16}, {16, 12}, {16, 12, 8}, {5, 12, 9}}) {
        const EmbeddedFft e = embed(dense(n, kind, d));
        ASSERT_EQ(e.steps.size(), 1u);
        const EmbeddedCall& call = e.steps[0].call;
        EXPECT_EQ(call.axes, static_cast<int>(n.size()));
        EXPECT_EQ(call.batch, 1);
        EXPECT_TRUE(e.steps[0].loops.empty());
        EXPECT_EQ(refused(call), "") << to_string(call);
        Index points = 1;
        for (std::size_t i = 0; i < n.size(); ++i)
          points *= kind == FftKind::real && i + 1 == n.size() ? n[i] / 2 + 1 : n[i];
        EXPECT_EQ((d == Direction::forward ? call.to : call.from).distance, points) << to_string(call);
      }
}

TEST(Embedded, ColumnsAcrossPlanesAreOneCall) {
  FftProblem p;
  p.dimensions = {{32, 12 * 8, 12 * 8}};
  p.loops = {{12, 8, 8}, {8, 1, 1}};
  const EmbeddedFft e = embed(p);
  ASSERT_EQ(e.steps.size(), 1u);
  EXPECT_TRUE(e.steps[0].loops.empty());
  EXPECT_EQ(e.steps[0].call.batch, 12 * 8);
  EXPECT_EQ(e.steps[0].call.from.distance, 1);
  EXPECT_EQ(e.steps[0].call.from.stride, 12 * 8);
}

TEST(Embedded, WhatTheLibraryRefusesIsNoticed) {
  EmbeddedCall call = embed(dense({16, 12}, FftKind::c2c, Direction::forward)).steps[0].call;
  EXPECT_EQ(refused(call), "");
  const auto spoiled = [&](auto change) {
    EmbeddedCall other = call;
    change(other);
    return refused(other);
  };
  EXPECT_NE(spoiled([](EmbeddedCall& c) { c.from.distance = 0; }), "");
  EXPECT_NE(spoiled([](EmbeddedCall& c) { c.to.stride = 0; }), "");
  EXPECT_NE(spoiled([](EmbeddedCall& c) { c.to.embed[1] = 11; }), "");
  EXPECT_NE(spoiled([](EmbeddedCall& c) { c.axes = 4; }), "");
}

}  // namespace weft::test
