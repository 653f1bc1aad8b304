// Local FFTs cut for threads, against one plan of the same problem: random kinds, lengths, memory orders and
// loops, in and out of place. Whether pieces keep out of each other's memory is counted out byte by byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "fft/threads/parallel_fft.hpp"
#include "weft/buffer.hpp"
#include "weft/error.hpp"

namespace weft::test {

namespace {

using Random = std::mt19937;

int below(Random& random, int n) {
  return static_cast<int>(random() % static_cast<unsigned>(n));
}

bool is_backward(const FftProblem& p) {
  return p.direction == Direction::backward;
}

/// One side of a problem.
struct Side {
  Index FftDimension::*stride;
  Index reals;  ///< per element
  bool halved;  ///< the last dimension has n/2+1 points
};

Side from_side(const FftProblem& p) {
  const bool halved = p.kind == FftKind::real && is_backward(p);
  return {&FftDimension::from_stride, p.kind == FftKind::c2c || halved ? 2 : 1, halved};
}

Side to_side(const FftProblem& p) {
  const bool halved = p.kind == FftKind::real && !is_backward(p);
  return {&FftDimension::to_stride, p.kind == FftKind::c2c || halved ? 2 : 1, halved};
}

/// The positions of all real numbers of a side, counted in real numbers from its start.
std::vector<Index> positions(const FftProblem& p, const Side& side) {
  std::vector<Index> all{0};
  const auto along = [&](Index n, Index stride) {
    const std::size_t before = all.size();
    for (Index i = 1; i < n; ++i)
      for (std::size_t k = 0; k < before; ++k) all.push_back(all[k] + i * stride * side.reals);
  };
  for (const FftDimension& d : p.loops) along(d.n, d.*side.stride);
  for (const FftDimension& d : p.dimensions)
    along(side.halved && &d == &p.dimensions.back() ? d.n / 2 + 1 : d.n, d.*side.stride);
  if (side.reals == 2)
    for (std::size_t k = all.size(); k-- > 0;) all.push_back(all[k] + 1);
  return all;
}

/// Gives the axes listed in `order` (slowest first) dense strides, now and then with a gap.
void lay_out(Random& random, std::vector<FftDimension*> order, const FftProblem& p, const Side& side,
             bool gaps) {
  Index stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    FftDimension& d = *order[i];
    d.*side.stride = stride;
    stride *= side.halved && &d == &p.dimensions.back() ? d.n / 2 + 1 : d.n;
    if (gaps && below(random, 4) == 0) stride += 1 + below(random, 3);
  }
}

/// In place every axis has its byte stride on both sides. An r2c dimension takes as much room as its complex
/// side needs; the axes that vary faster than it are dense on either side.
void lay_out_in_place(const std::vector<FftDimension*>& order, FftProblem& p) {
  const bool real = p.kind == FftKind::real;
  const Side complex = real && is_backward(p) ? from_side(p) : to_side(p);
  const auto other = is_backward(p) || !real ? &FftDimension::to_stride : &FftDimension::from_stride;
  bool outer = true;
  for (FftDimension* d : order) {
    if (real && d == &p.dimensions.back()) outer = false;
    if (!real) {
      d->from_stride = d->to_stride;
    } else {
      d->*other = d->*complex.stride * (outer ? 2 : 1);
    }
  }
}

FftProblem random_problem(Random& random) {
  FftProblem p;
  p.precision = below(random, 2) == 0 ? Precision::float64 : Precision::float32;
  p.kind = static_cast<FftKind>(below(random, 3));
  if (below(random, 2) == 0) p.direction = Direction::backward;
  p.in_place = below(random, 3) == 0;
  p.may_destroy_input = p.in_place || below(random, 3) != 0;
  p.aligned = below(random, 4) != 0;
  if (below(random, 2) == 0) p.scale = 0.3;
  const int dimensions = 1 + below(random, 3), loops = below(random, 3);
  for (int i = 0; i < dimensions; ++i) {
    FftDimension d{1 + below(random, dimensions == 1 ? 40 : 12), 0, 0};
    if (p.kind == FftKind::r2r)
      d.transform = static_cast<Transform>(static_cast<int>(Transform::dct1) + below(random, 8));
    if (d.transform == Transform::dct1) ++d.n;
    p.dimensions.push_back(d);
  }
  for (int i = 0; i < loops; ++i) p.loops.push_back({1 + below(random, 9), 0, 0});
  std::vector<FftDimension*> order;
  for (FftDimension& d : p.dimensions) order.push_back(&d);
  for (FftDimension& d : p.loops) order.push_back(&d);
  std::ranges::shuffle(order, random);
  lay_out(random, order, p, p.kind == FftKind::real && is_backward(p) ? from_side(p) : to_side(p), true);
  if (p.in_place) {
    lay_out_in_place(order, p);
  } else {
    std::ranges::shuffle(order, random);
    lay_out(random, order, p, p.kind == FftKind::real && is_backward(p) ? to_side(p) : from_side(p), true);
  }
  return p;
}

std::string describe(const FftProblem& p, int threads) {
  std::string text = std::string(p.kind == FftKind::c2c   ? "c2c"
                                 : p.kind == FftKind::r2r ? "r2r"
                                                          : "real") +
                     (is_backward(p) ? " backward" : " forward") + (p.in_place ? " in place" : "") +
                     (p.may_destroy_input ? "" : " keeping its input") + (p.aligned ? "" : " unaligned") +
                     (p.precision == Precision::float64 ? " double" : " float");
  const auto add = [&](const char* name, const std::vector<FftDimension>& list) {
    text += name;
    for (const FftDimension& d : list)
      text +=
          " " + std::to_string(d.n) + ":" + std::to_string(d.from_stride) + ">" + std::to_string(d.to_stride);
  };
  add(", dimensions", p.dimensions);
  add(", loops", p.loops);
  return text + ", " + std::to_string(threads) + " threads";
}

/// The real numbers that a piece touches, as positions from the start of an array, ascending.
std::vector<Index> touched(const FftPiece& piece, const Side& side, Index offset) {
  std::vector<Index> all = positions(piece.problem, side);
  std::sort(all.begin(), all.end());
  const Index start = offset / real_bytes(piece.problem.precision);
  for (Index& x : all) x += start;
  return all;
}

bool disjoint(const std::vector<Index>& a, const std::vector<Index>& b) {
  std::vector<Index> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both.empty();
}

void check_pieces(const FftProblem& p, int threads) {
  const std::vector<FftStep> steps = split_fft(p, threads);
  for (const FftStep& step : steps) {
    ASSERT_LE(step.pieces.size(), static_cast<std::size_t>(threads));
    std::vector<std::vector<Index>> read, written;
    for (const FftPiece& piece : step.pieces) {
      EXPECT_TRUE(!piece.problem.aligned ||
                  (p.aligned && piece.from_offset % 16 == 0 && piece.to_offset % 16 == 0));
      EXPECT_TRUE(step.sides != FftStep::Sides::from_only || p.may_destroy_input || p.in_place);
      EXPECT_TRUE(step.sides == FftStep::Sides::from_to || piece.problem.in_place);
      read.push_back(touched(piece, from_side(piece.problem), piece.from_offset));
      written.push_back(touched(piece, to_side(piece.problem), piece.to_offset));
    }
    for (std::size_t i = 0; i < written.size(); ++i)
      for (std::size_t j = 0; j < written.size(); ++j) {
        if (i == j) continue;
        EXPECT_TRUE(disjoint(written[i], written[j]));
        EXPECT_TRUE(!step.pieces[i].problem.in_place || disjoint(written[i], read[j]));
      }
  }
}

template <class Real>
struct Arrays {
  std::vector<Real> from, to;
  Index shift;  ///< unaligned arrays start here

  Arrays(const FftProblem& p, Random& random) : shift(p.aligned ? 0 : 1) {
    const auto size = [&](const Side& side) {
      return static_cast<std::size_t>(std::ranges::max(positions(p, side)) + 1 + shift);
    };
    from.resize(p.in_place ? std::max(size(from_side(p)), size(to_side(p))) : size(from_side(p)));
    to.resize(p.in_place ? 0 : size(to_side(p)));
    for (Real& x : from) x = std::uniform_real_distribution<Real>(-1, 1)(random);
    for (Real& x : to) x = 77;
  }
  std::byte* from_bytes() { return reinterpret_cast<std::byte*>(from.data() + shift); }
  std::byte* to_bytes() {
    return to.empty() ? from_bytes() : reinterpret_cast<std::byte*>(to.data() + shift);
  }
  const std::vector<Real>& result() const { return to.empty() ? from : to; }
};

/// What c2r expects: the spectrum of real data, where `from` has noise now.
void execute(const LocalFft& fft, std::byte* from, std::byte* to) {
  Buffer<std::byte> work(static_cast<std::size_t>(fft.work_bytes()));
  fft.execute(from, to, work.data());
}

template <class Real>
void make_spectrum(const FftProblem& p, std::span<const FftRow* const> rows, Arrays<Real>& arrays,
                   Random& random) {
  FftProblem forward = p;
  forward.direction = Direction::forward;
  forward.in_place = false;
  forward.scale = 1;
  for (auto* list : {&forward.dimensions, &forward.loops})
    for (FftDimension& d : *list) std::swap(d.from_stride, d.to_stride);
  Arrays<Real> values(forward, random);
  execute(*plan_fft(rows, forward).fft, values.from_bytes(), arrays.from_bytes());
}

/// FFTW cannot keep the input of some c2r transforms, and finds no plan in place for some r2c dimensions that
/// do not vary fastest.
bool can_plan(std::span<const FftRow* const> rows, const FftProblem& p) {
  try {
    return plan_fft(rows, p).fft != nullptr;
  } catch (const Error&) {
    return false;
  }
}

template <class Real>
void compare(const FftProblem& p, std::span<const FftRow* const> rows, int threads, ThreadPool* pool,
             Random& random) {
  Arrays<Real> expected(p, random);
  if (p.kind == FftKind::real && is_backward(p)) make_spectrum(p, rows, expected, random);
  Arrays<Real> got = expected;
  const std::vector<Real> input = expected.from;
  execute(*plan_fft(rows, p).fft, expected.from_bytes(), expected.to_bytes());
  const ParallelFft fft(p, rows, threads);
  EXPECT_EQ(fft.row().name, rows[0]->name);
  Buffer<std::byte> work(static_cast<std::size_t>(fft.work_bytes()));
  fft.execute(got.from_bytes(), got.to_bytes(), work.data(), pool, {});
  EXPECT_TRUE(p.in_place || p.may_destroy_input || got.from == input);
  double points = 1, largest = 0;
  for (const FftDimension& d : p.dimensions) points *= static_cast<double>(d.n);
  std::vector<bool> part_of_result(got.result().size(), false);
  for (Index x : positions(p, to_side(p))) {
    part_of_result[static_cast<std::size_t>(x + got.shift)] = true;
    largest = std::max(
        largest, std::abs(static_cast<double>(expected.result()[static_cast<std::size_t>(x + got.shift)])));
  }
  const double bound =
      16 * static_cast<double>(std::numeric_limits<Real>::epsilon()) * (1 + std::log2(points)) * largest;
  for (std::size_t i = 0; i < part_of_result.size(); ++i) {
    if (part_of_result[i]) {
      ASSERT_NEAR(got.result()[i], expected.result()[i], bound) << "at " << i;
    } else if (!p.in_place) {
      ASSERT_EQ(got.result()[i], Real(77)) << "between the results, at " << i;
    }
  }
}

std::vector<std::size_t> pieces(const FftProblem& p, int threads) {
  std::vector<std::size_t> sizes;
  for (const FftStep& step : split_fft(p, threads)) sizes.push_back(step.pieces.size());
  return sizes;
}

using Sizes = std::vector<std::size_t>;

}  // namespace

TEST(ParallelFft, DoesWhatOnePlanDoes) {
  const std::vector<const FftRow*> rows{find_ffts("fftw").front()};  // what FFTW cannot do is skipped
  Random random(11);
  std::vector<std::unique_ptr<ThreadPool>> pools;
  for (int threads = 1; threads <= 5; ++threads) pools.push_back(std::make_unique<ThreadPool>(threads));
  int done = 0, cut = 0, two_steps = 0;
#if defined(WEFT_SANITIZES_ADDRESSES) || defined(WEFT_SANITIZES_THREADS)
  const int rounds = 600;
#else
  const int rounds = 3000;
#endif
  for (int round = 0; round < rounds; ++round) {
    const FftProblem p = random_problem(random);
    const int threads = 1 + below(random, 5);
    SCOPED_TRACE("round " + std::to_string(round) + ": " + describe(p, threads));
    check_pieces(p, threads);
    if (!can_plan(rows, p)) continue;
    ThreadPool* pool =
        below(random, 8) == 0 ? nullptr : pools[static_cast<std::size_t>(below(random, 5))].get();
    if (p.precision == Precision::float64) {
      compare<double>(p, rows, threads, pool, random);
    } else {
      compare<float>(p, rows, threads, pool, random);
    }
    if (testing::Test::HasFailure()) return;
    const Sizes sizes = pieces(p, threads);
    ++done;
    cut += sizes[0] > 1;
    two_steps += sizes.size() == 2;
  }
  EXPECT_GT(done, rounds * 2 / 3);
  EXPECT_GT(cut, rounds / 3);
  EXPECT_GT(two_steps, rounds / 10);
}

TEST(SplitFft, CutsTheOutermostLoopThatIsLongEnough) {
  FftProblem p;
  p.dimensions = {{8, 1, 1}};
  p.loops = {{3, 800, 800}, {100, 8, 8}};
  EXPECT_EQ(pieces(p, 3), (Sizes{3}));
  EXPECT_EQ(split_fft(p, 3)[0].pieces[1].from_offset, 800 * 16);
  EXPECT_EQ(pieces(p, 4), (Sizes{4}));
  EXPECT_EQ(split_fft(p, 4)[0].pieces[1].from_offset, 25 * 8 * 16);
  EXPECT_EQ(pieces(p, 1), (Sizes{1}));
}

TEST(SplitFft, MakesTwoStepsOfSeveralDimensionsWithoutLoops) {
  FftProblem p;
  p.scale = 0.5;
  p.dimensions = {{30, 1200, 1200}, {40, 30, 30}, {30, 1, 1}};
  EXPECT_EQ(pieces(p, 4), (Sizes{4, 4}));
  EXPECT_EQ(split_fft(p, 4)[0].pieces[0].problem.scale * split_fft(p, 4)[1].pieces[0].problem.scale, 0.5);
  p.kind = FftKind::real;
  p.dimensions = {{30, 1200, 640}, {40, 30, 16}, {30, 1, 1}};
  EXPECT_EQ(pieces(p, 4), (Sizes{4, 4}));
  EXPECT_EQ(split_fft(p, 4)[1].sides, FftStep::Sides::to_only);
  p.dimensions = {{30, 640, 1200}, {40, 16, 30}, {30, 1, 1}};
  p.direction = Direction::backward;
  EXPECT_EQ(pieces(p, 4), (Sizes{4, 4}));
  EXPECT_EQ(split_fft(p, 4)[0].sides, FftStep::Sides::from_only);
  p.may_destroy_input = false;
  EXPECT_EQ(pieces(p, 4), (Sizes{1}));
  p.dimensions = {{1000, 1, 1}};
  EXPECT_EQ(pieces(p, 4), (Sizes{1}));
}

TEST(SplitFft, KeepsAlignmentWhereThatLeavesNobodyIdle) {
  FftProblem p;
  p.precision = Precision::float32;
  p.dimensions = {{5, 1, 1}};
  p.loops = {{101, 5, 5}};  // every second iteration starts on 16 bytes
  const std::vector<FftStep> steps = split_fft(p, 4);
  for (const FftPiece& piece : steps[0].pieces) EXPECT_TRUE(piece.problem.aligned);
  p.loops = {{4, 5, 5}};
  EXPECT_EQ(pieces(p, 4), (Sizes{4}));
  EXPECT_FALSE(split_fft(p, 4)[0].pieces[1].problem.aligned);
}

TEST(SplitFft, InPlaceCutsOnlyWhatStaysApart) {
  FftProblem p;
  p.kind = FftKind::real;
  p.in_place = true;
  p.dimensions = {{10, 1, 1}};
  p.loops = {{20, 12, 6}};
  EXPECT_EQ(pieces(p, 4), (Sizes{4}));
  // Lines side by side: a complex result lies over real data of other lines.
  p.dimensions = {{10, 20, 20}};
  p.loops = {{20, 1, 1}};
  EXPECT_EQ(pieces(p, 4), (Sizes{1}));
  // A transposition within each of the outer iterations, and one across them.
  p.kind = FftKind::c2c;
  p.dimensions = {{5, 5, 1}};
  p.loops = {{8, 25, 25}, {5, 1, 5}};
  EXPECT_EQ(pieces(p, 4), (Sizes{4}));
  p.loops = {{8, 1, 8}, {8, 8, 1}};
  p.dimensions = {{5, 64, 64}};
  EXPECT_EQ(pieces(p, 4), (Sizes{1}));
}

}  // namespace weft::test
