// Local transforms cut into cuFFT's calls: what libraries ask of such calls, and how few there are.
#include <gtest/gtest.h>

#include <random>

#include "fft/calls/r2r_calls.hpp"
#include "fft/calls/strided_lines.hpp"
#include "support/cufft_call_rules.hpp"
#include "support/host_r2r.hpp"
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

/// The lines along one axis of an array of 12 x 32 x 8 points.
FftProblem lines_of_box(Transform transform, std::size_t axis) {
  FftProblem p;
  p.kind = FftKind::r2r;
  p.loops = {{12, 32 * 8, 32 * 8}, {32, 8, 8}, {8, 1, 1}};
  p.dimensions = {p.loops[axis]};
  p.dimensions[0].transform = transform;
  p.loops.erase(p.loops.begin() + static_cast<std::ptrdiff_t>(axis));
  return p;
}

}  // namespace

TEST(CufftCalls, EveryCallKeepsToWhatTheLibraryAsks) {
  std::mt19937_64 random(3);
  int calls = 0, whole = 0;
  for (int i = 0; i < 600; ++i) {
    const FftProblem problem = random_local_problem(random).fft;
    if (!unable_in_calls(problem).empty()) continue;
    for (const CallStep& s : cufft_calls(problem).steps) {
      ++calls;
      whole += s.call.batch == 1 ? 1 : 0;
      if (s.by_kernels)
        ASSERT_TRUE(kernels_can_real_rows(s)) << to_string(s.call);
      else
        ASSERT_EQ(refused(s.call), "") << to_string(s.call);
    }
  }
  EXPECT_GT(calls, 500);
  EXPECT_GT(whole, 20);
}

TEST(CufftCalls, AnArrayByItselfIsOneCallWithADistance) {
  for (const FftKind kind : {FftKind::c2c, FftKind::real})
    for (const Direction d : {Direction::forward, Direction::backward})
      for (const std::vector<Index>& n : {std::vector<Index>{16}, {16, 12}, {16, 12, 8}, {5, 12, 9}}) {
        const CufftCalls e = cufft_calls(dense(n, kind, d));
        ASSERT_EQ(e.steps.size(), 1u);
        const CufftCall& call = e.steps[0].call;
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

/// Modes that are not those of real data give what a call for each axis does.
TEST(CufftCalls, ARealAxisOfOnePointIsACallOfItsOwn) {
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    const CufftCalls e = cufft_calls(dense({103, 11, 1}, FftKind::real, direction));
    ASSERT_EQ(e.steps.size(), 2u);
    const bool forward = direction == Direction::forward;
    const CufftCall &real = e.steps[forward ? 0 : 1].call, &others = e.steps[forward ? 1 : 0].call;
    EXPECT_EQ(real.kind, FftKind::real);
    EXPECT_EQ(real.axes, 1);
    EXPECT_EQ(others.kind, FftKind::c2c);
    EXPECT_EQ(others.axes, 2);
    for (const CallStep& s : e.steps) EXPECT_EQ(refused(s.call), "") << to_string(s.call);
  }
}

/// Lines along the real axis alone would be 40 calls and more; with the complex side aside there are few.
TEST(CufftCalls, ARealArrayInAnotherOrderTakesFew) {
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    FftProblem p = dense({40, 48, 20}, FftKind::real, direction);
    const bool forward = direction == Direction::forward;
    auto complex = forward ? &FftDimension::to_stride : &FftDimension::from_stride;
    p.dimensions[0].*complex = 11;
    p.dimensions[1].*complex = Index{11} * 40;
    for (const bool may_destroy : {false, true}) {
      p.may_destroy_input = may_destroy;
      const CufftCalls calls = cufft_calls(p);
      EXPECT_EQ(calls.steps.size(), 1U);
      for (const CallStep& s : calls.steps) {
        EXPECT_TRUE(s.loops.empty());
        EXPECT_EQ(s.call.axes, 3);
      }
      EXPECT_EQ((forward ? calls.to : calls.from).bytes, Index{40} * 48 * 11 * 16);
      EXPECT_EQ((forward ? calls.from : calls.to).bytes, 0);
    }
  }
}

/// The library would need a copy of what it destroys, or of what it writes into gaps.
TEST(CufftCalls, RowsBackToRealNumbersAreDoneByKernelsInsteadOfCopied) {
  const auto rows = [](Index n, Index apart, bool may_destroy) {
    FftProblem p;
    p.kind = FftKind::real;
    p.direction = Direction::backward;
    p.dimensions = {{n, 1, 1}};
    p.loops = {{10, n / 2 + 1, n + apart}};
    p.may_destroy_input = may_destroy;
    return cufft_calls(p);
  };
  const auto copies = [](const CufftCalls& calls) { return calls.from.bytes > 0 || calls.to.bytes > 0; };
  EXPECT_FALSE(rows(60, 0, true).steps.back().by_kernels) << "the library needs no copy";
  for (const auto& calls : {rows(60, 4, true), rows(60, 0, false), rows(60, 4, false)}) {
    ASSERT_EQ(calls.steps.size(), 1U);
    EXPECT_TRUE(calls.steps[0].by_kernels);
    EXPECT_FALSE(copies(calls));
  }
  for (const auto& calls : {rows(61, 4, true), rows(60, 3, true), rows(4096, 4, true)}) {
    EXPECT_FALSE(calls.steps.back().by_kernels);
    EXPECT_TRUE(copies(calls));
  }
  // A tile of each plane, from or to dense rows: one launch, instead of a copy and one call.
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    FftProblem tile;
    tile.kind = FftKind::real;
    tile.direction = direction;
    tile.dimensions = {{512, 1, 1}};
    const bool forward = direction == Direction::forward;
    const auto loop = [&](Index n, Index real, Index complex) {
      return FftDimension{n, forward ? real : complex, forward ? complex : real};
    };
    tile.loops = {loop(257, 43 * 512, 256 * 257), loop(43, 512, 257)};
    tile.may_destroy_input = false;
    const CufftCalls calls = cufft_calls(tile);
    EXPECT_FALSE(copies(calls));
    EXPECT_EQ(calls.steps.back().by_kernels, !forward);
  }
  // Along another axis it is done in place on the input.
  FftProblem p = dense({40, 60}, FftKind::real, Direction::backward);
  p.may_destroy_input = false;
  EXPECT_GT(cufft_calls(p, AxesOf::apart).from.bytes, 0);
}

TEST(CufftCalls, ColumnsAcrossPlanesAreOneCall) {
  FftProblem p;
  p.dimensions = {{32, 12 * 8, 12 * 8}};
  p.loops = {{12, 8, 8}, {8, 1, 1}};
  const CufftCalls e = cufft_calls(p);
  ASSERT_EQ(e.steps.size(), 1u);
  EXPECT_TRUE(e.steps[0].loops.empty());
  EXPECT_EQ(e.steps[0].call.batch, 12 * 8);
  EXPECT_EQ(e.steps[0].call.from.distance, 1);
  EXPECT_EQ(e.steps[0].call.from.stride, 12 * 8);
}

TEST(CufftCalls, PlanesWhoseLinesLieSideBySideAreACallForEachAxis) {
  for (const Index batch : {4, 32, 200}) {
    FftProblem p;
    p.dimensions = {{24, 36 * batch, 36 * batch}, {36, batch, batch}};
    p.loops = {{batch, 1, 1}};
    const CufftCalls calls = cufft_calls(p);
    ASSERT_EQ(calls.steps.size(), batch < 32 ? 1U : 2U);
    for (const CallStep& s : calls.steps) EXPECT_EQ(s.call.axes, batch < 32 ? 2 : 1);
  }
}

TEST(CufftCalls, ACallInTheMiddleOfAnArrayTakesLinesSideBySide) {
  const auto batch_of = [](Index outer, Index inner, Index stride) {
    FftProblem p;
    p.dimensions = {{32, inner * stride, inner * stride}};
    p.loops = {{outer, 32 * inner * stride, 32 * inner * stride}, {inner, stride, stride}};
    const CufftCalls e = cufft_calls(p);
    EXPECT_EQ(e.steps.size(), 1u);
    EXPECT_EQ(e.steps[0].loops.size(), 1u);
    return e.steps[0].call;
  };
  EXPECT_EQ(batch_of(100, 16, 1).from, (CallSide{{32, 0, 0}, 16, 1}));
  EXPECT_EQ(batch_of(100, 16, 1).batch, 16);
  EXPECT_EQ(batch_of(16, 100, 1).batch, 100);
  EXPECT_EQ(batch_of(256, 16, 1).batch, 16);
  // Too few, and with gaps: then there are to be few calls.
  EXPECT_EQ(batch_of(100, 15, 1).from, (CallSide{{32, 0, 0}, 15, 32 * 15}));
  EXPECT_EQ(batch_of(100, 15, 1).batch, 100);
  EXPECT_EQ(batch_of(100, 16, 2).batch, 100);
  EXPECT_EQ(batch_of(257, 16, 1).batch, 257);
}

TEST(CufftCalls, WhatTheLibraryRefusesIsNoticed) {
  CufftCall call = cufft_calls(dense({16, 12}, FftKind::c2c, Direction::forward)).steps[0].call;
  EXPECT_EQ(refused(call), "");
  const auto spoiled = [&](auto change) {
    CufftCall other = call;
    change(other);
    return refused(other);
  };
  EXPECT_NE(spoiled([](CufftCall& c) { c.from.distance = 0; }), "");
  EXPECT_NE(spoiled([](CufftCall& c) { c.to.stride = 0; }), "");
  EXPECT_NE(spoiled([](CufftCall& c) { c.to.embed[1] = 11; }), "");
  EXPECT_NE(spoiled([](CufftCall& c) { c.axes = 4; }), "");
  call = cufft_calls(dense({16, 12}, FftKind::real, Direction::forward)).steps[0].call;
  EXPECT_EQ(refused(call), "");
  EXPECT_NE(spoiled([](CufftCall& c) { c.n[1] = 1; }), "");
}

TEST(R2rCalls, EveryCallKeepsToWhatTheLibraryAsks) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 600; ++i)
    for (const R2rCalls& axis : r2r_calls(random_r2r_problem(random).fft))
      if (axis.call) {
        ASSERT_EQ(refused(*axis.call), "") << to_string(*axis.call);
        ASSERT_EQ(axis.call->from, axis.call->to);
        ASSERT_EQ(axis.call->batch * axis.call->n[0], axis.elements);
      }
}

TEST(R2rCalls, LinesLieAsideAsThreadsReachThemBest) {
  for (const bool contiguous : {true, false}) {
    const R2rCalls e = r2r_calls(lines_of_box(Transform::dct2, contiguous ? 2 : 0))[0];
    const Index n = contiguous ? 8 : 12, pairs = 12 * 32 * 8 / n / 2;
    ASSERT_TRUE(e.call);
    EXPECT_EQ(e.call->n[0], n);
    EXPECT_EQ(e.call->batch, pairs);
    EXPECT_EQ(e.call->from.stride, contiguous ? 1 : pairs);
    EXPECT_EQ(e.call->from.distance, contiguous ? n : 1);
    EXPECT_EQ(e.elements, 12 * 32 * 8 / 2);
  }
}

TEST(R2rCalls, TheFftIsAsLongAsTheTypeAsks) {
  const auto length = [](Transform t, std::size_t axis) {
    return r2r_calls(lines_of_box(t, axis))[0].call->n[0];
  };
  EXPECT_EQ(length(Transform::dct1, 1), 62);
  EXPECT_EQ(length(Transform::dst1, 1), 66);
  EXPECT_EQ(length(Transform::dst3, 1), 32);
  EXPECT_EQ(length(Transform::dct4, 1), 16);
  FftProblem odd = lines_of_box(Transform::dst4, 1);
  odd.dimensions[0].n = 31;
  EXPECT_EQ(r2r_calls(odd)[0].call->n[0], 31);
  odd.dimensions[0].n = 1;
  EXPECT_FALSE(r2r_calls(odd)[0].call);
}

TEST(R2rCalls, PositionsOf64BitsAreThoseOf32) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 100; ++i) {
    const LocalProblem p = random_r2r_problem(random);
    std::vector<std::byte> array(span_read(p.fft));
    for (const R2rCalls& axis : r2r_calls(p.fft)) {
      for (std::byte& b : array) b = static_cast<std::byte>(random() % 64);
      // Memory of no byte more than is asked for.
      std::vector<std::byte> aside(static_cast<std::size_t>(axis.elements * 2 * real_bytes(p.fft.precision)));
      std::vector<std::byte> wide_aside = aside, result(span_written(p.fft)), wide_result = result;
      run_r2r_step<std::uint32_t>(axis.before, aside.data(), array.data());
      run_r2r_step<std::uint64_t>(axis.before, wide_aside.data(), array.data());
      ASSERT_TRUE(aside == wide_aside);
      run_r2r_step<std::uint32_t>(axis.after, result.data(), aside.data());
      run_r2r_step<std::uint64_t>(axis.after, wide_result.data(), aside.data());
      ASSERT_TRUE(result == wide_result);
      array = result;
    }
  }
}

}  // namespace weft::test
