// The local FFT back ends that every build with FFTW has: equal transforms share a plan, planning is safe
// beside the user's own FFTW calls, cosine and sine transforms and scales are what they are defined to be.
#include <fftw3.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <thread>

#include "base/cache.hpp"
#include "base/test_hook.hpp"
#include "fft/local_fft.hpp"
#include "support/expect_error.hpp"
#include "support/local_problem.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

FftProblem line(Index n) {
  FftProblem p;
  p.dimensions = {{n, 1, 1}};
  p.loops = {{4, n, n}};
  return p;
}

/// The definitions of weft/problem.hpp, term by term.
long double r2r_sum(Transform t, const std::vector<double>& x, Index k) {
  const auto n = static_cast<Index>(x.size());
  const long double pi = std::numbers::pi_v<long double>, half = 0.5L;
  const long double sign = k % 2 == 0 ? 1 : -1, length = static_cast<long double>(n);
  const auto mode = static_cast<long double>(k);
  long double sum = 0;
  for (Index index = 0; index < n; ++index) {
    const auto j = static_cast<long double>(index);
    const long double v = x[static_cast<std::size_t>(index)];
    const bool first = index == 0, last = index == n - 1;
    switch (t) {
      case Transform::dct1:
        sum += first ? v : last ? sign * v : 2 * v * std::cos(pi * j * mode / (length - 1));
        break;
      case Transform::dct2:
        sum += 2 * v * std::cos(pi * (j + half) * mode / length);
        break;
      case Transform::dct3:
        sum += first ? v : 2 * v * std::cos(pi * j * (mode + half) / length);
        break;
      case Transform::dct4:
        sum += 2 * v * std::cos(pi * (j + half) * (mode + half) / length);
        break;
      case Transform::dst1:
        sum += 2 * v * std::sin(pi * (j + 1) * (mode + 1) / (length + 1));
        break;
      case Transform::dst2:
        sum += 2 * v * std::sin(pi * (j + half) * (mode + 1) / length);
        break;
      case Transform::dst3:
        sum += last ? sign * v : 2 * v * std::sin(pi * (j + 1) * (mode + half) / length);
        break;
      default:
        sum += 2 * v * std::sin(pi * (j + half) * (mode + half) / length);
    }
  }
  return sum;
}

/// Real transforms in place with other strides in the output, which FFTW mostly makes no plan for.
bool moves_reals(const FftProblem& p) {
  const auto moves = [](const FftDimension& d) { return d.from_stride != d.to_stride; };
  return p.kind == FftKind::r2r && p.in_place &&
         (std::ranges::any_of(p.dimensions, moves) || std::ranges::any_of(p.loops, moves));
}

}  // namespace

TEST(LocalFft, EqualTransformsShareOnePlan) {
  const FftRow& fft = *find_ffts("fftw").front();
  const auto a = fft.plan(line(16)), b = fft.plan(line(16)), c = fft.plan(line(17));
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  FftProblem unaligned = line(16);
  unaligned.aligned = false;
  EXPECT_NE(a, fft.plan(unaligned));
  expect_error([] { find_ffts("fast"); }, "auto, fftw");
}

TEST(LocalFft, ComputesTheCosineAndSineTransforms) {
  const FftRow fft = fftw_row();
  for (int t = static_cast<int>(Transform::dct1); t <= static_cast<int>(Transform::dst4); ++t)
    for (const Index n : {2, 5, 8}) {
      FftProblem p;
      p.kind = FftKind::r2r;
      p.scale = 0.25;
      p.dimensions = {{n, 3, 2, static_cast<Transform>(t)}};
      std::vector<double> in(static_cast<std::size_t>(3 * n)), out(static_cast<std::size_t>(2 * n), -7.5), x;
      for (Index j = 0; j < n; ++j) x.push_back(in[static_cast<std::size_t>(3 * j)] = 1 / (1.5 + double(j)));
      fft.plan(p)->execute(in.data(), out.data(), nullptr);
      for (Index k = 0; k < n; ++k) {
        const auto at = static_cast<std::size_t>(2 * k);
        EXPECT_NEAR(out[at], 0.25 * static_cast<double>(r2r_sum(static_cast<Transform>(t), x, k)), 1e-14)
            << "type " << t << " of " << n << " points, k = " << k;
        EXPECT_EQ(out[at + 1], -7.5);  // neither written nor scaled
      }
    }
}

TEST(LocalFft, TransformsSeveralAxesByKindsOfTheirOwn) {
  const FftRow fft = fftw_row();
  FftProblem p;
  p.kind = FftKind::r2r;
  p.dimensions = {{3, 4, 4, Transform::dst2}, {4, 1, 1, Transform::dct3}};
  const std::vector<double> x{1, 2, 4}, y{3, -1, 0.5, 2};
  std::vector<double> in, out(12);
  for (const double a : x)
    for (const double b : y) in.push_back(a * b);
  fft.plan(p)->execute(in.data(), out.data(), nullptr);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 4; ++j)
      EXPECT_NEAR(out[static_cast<std::size_t>(4 * i + j)],
                  static_cast<double>(r2r_sum(Transform::dst2, x, i) * r2r_sum(Transform::dct3, y, j)),
                  1e-13);
}

/// By FFTW's estimate, one axis after the other (fft/fftw/passes.hpp): planes and lines that lie apart, in
/// loops on both sides, of lengths that rows are slow or fast with.
TEST(LocalFft, TransformsBlocksAxisByAxis) {
  const FftRow fft = fftw_row();
  std::mt19937_64 random(8);
  int in_passes = 0;
  for (const Precision precision : {Precision::float64, Precision::float32})
    for (const Direction direction : {Direction::forward, Direction::backward})
      for (const bool in_place : {true, false})
        for (const FftKind kind : {FftKind::c2c, FftKind::real})
          for (const auto& [n, m] : {std::pair<Index, Index>{18, 40}, {40, 18}, {36, 27}, {48, 96}, {16, 25}})
            for (int loops = 0; loops < 4; ++loops) {
              FftProblem p;
              p.precision = precision;
              p.kind = kind;
              p.direction = direction;
              p.in_place = in_place;
              p.may_destroy_input = in_place || (kind == FftKind::real && direction == Direction::backward);
              p.scale = loops == 3 ? 0.5 : 1;
              const bool real = kind == FftKind::real;
              // Modes have some room behind them, points of in place as much.
              const Index modes = (real ? m / 2 + 1 : m) + loops % 2, points = real ? 2 * modes : modes;
              const bool reals_first = direction == Direction::forward;
              const auto axis = [&](Index length, Index of_modes, Index of_points) {
                return reals_first ? FftDimension{length, of_points, of_modes}
                                   : FftDimension{length, of_modes, of_points};
              };
              p.dimensions = {axis(n, modes, points), axis(m, 1, 1)};
              if (loops > 0) p.loops.push_back(axis(3, n * modes, n * points));
              if (loops > 1) p.loops.push_back(axis(2, 4 * n * modes, 4 * n * points));
              const LocalProblem problem = with_values(p, random);
              const auto plan = fft.plan(p);
              in_passes += plan->work_bytes() > 0 ? 1 : 0;
              const LocalResult result = compute(*plan, problem);
              EXPECT_LT(result.error, local_bound(problem)) << n << " x " << m << ", " << loops << " loops";
              EXPECT_TRUE(result.input_kept || p.may_destroy_input);
              EXPECT_TRUE(result.gaps_kept);
            }
  EXPECT_EQ(in_passes, 2 * 2 * 2 * 2 * 5 * 4);
  // Lines side by side in place, and the same with others in front of them.
  for (const Index n : {18, 54, 144})
    for (const Index shift : {0, 7}) {
      FftProblem p;
      p.in_place = true;
      p.dimensions = {{n, 5 + shift, 5 + shift}};
      p.loops = {{5, 1, 1}, {4, n * (5 + shift), n * (5 + shift)}};
      const LocalProblem problem = with_values(p, random);
      const auto plan = fft.plan(p);
      EXPECT_GT(plan->work_bytes(), 0);
      const LocalResult result = compute(*plan, problem);
      EXPECT_LT(result.error, local_bound(problem)) << n;
      EXPECT_TRUE(result.gaps_kept);
    }
  {
    const ScopedSwitch small(detail::pretended_second_cache, std::int64_t{48} << 10);
    // What the cache does not hold, in stages: planes and then the other axes in place, or back to reals
    // these first. Some lines are left where neighbours are taken several at a time.
    for (const FftKind kind : {FftKind::c2c, FftKind::real})
      for (const Direction direction : {Direction::forward, Direction::backward})
        for (const bool in_place : {true, false})
          for (const auto& [a, b, c] :
               {std::tuple<Index, Index, Index>{18, 20, 22}, {40, 18, 17}, {17, 18, 22}}) {
            FftProblem p;
            p.kind = kind;
            p.direction = direction;
            p.in_place = in_place;
            p.scale = 0.5;
            const bool real = kind == FftKind::real, forward = direction == Direction::forward;
            const Index row = real ? c / 2 + 1 : c, reals = real ? 2 * row : row;
            const auto axis = [&](Index n, Index modes, Index points) {
              return forward ? FftDimension{n, points, modes} : FftDimension{n, modes, points};
            };
            p.dimensions = {axis(a, b * row, b * reals), axis(b, row, reals), axis(c, 1, 1)};
            const LocalProblem problem = with_values(p, random);
            const auto plan = fft.plan(p);
            EXPECT_GT(plan->work_bytes(), 0);
            const LocalResult result = compute(*plan, problem);
            EXPECT_LT(result.error, local_bound(problem)) << a << " x " << b << " x " << c;
            EXPECT_TRUE(result.gaps_kept);
            if (real && !forward && !in_place) {
              p.may_destroy_input = false;
              EXPECT_FALSE(fft.unable(p).empty());
            }
          }
  }
  // In any memory order on either side, with gaps.
  for (int i = 0; i < 200; ++i) {
    const ScopedSwitch small(detail::pretended_second_cache, std::int64_t{i % 2 == 0 ? 1 << 20 : 32 << 10});
    FftProblem p;
    p.kind = i % 3 == 0 ? FftKind::c2c : FftKind::real;
    p.direction = i % 4 < 2 ? Direction::forward : Direction::backward;
    p.may_destroy_input = p.kind == FftKind::real && p.direction == Direction::backward;
    const bool real = p.kind == FftKind::real, forward = p.direction == Direction::forward;
    const std::size_t axes = i % 5 == 0 ? 3 : 2;
    std::vector<Index> points{18, 20, 27}, modes;
    points.resize(axes);
    for (int l = 0; l < i % 3; ++l) points.push_back(2 + l);
    std::shuffle(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(axes), random);
    modes = points;
    if (real) modes[axes - 1] = modes[axes - 1] / 2 + 1;
    const auto strides_of = [&](const std::vector<Index>& extents) {
      std::vector<std::size_t> order(extents.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::shuffle(order.begin(), order.end(), random);
      std::vector<Index> strides(extents.size());
      Index next = 1 + i % 2;
      for (const std::size_t a : order) {
        strides[a] = next;
        next *= extents[a] + i % 3;
      }
      return strides;
    };
    const std::vector<Index> of_points = strides_of(points), of_modes = strides_of(modes);
    for (std::size_t a = 0; a < points.size(); ++a) {
      const FftDimension d = forward ? FftDimension{points[a], of_points[a], of_modes[a]}
                                     : FftDimension{points[a], of_modes[a], of_points[a]};
      (a < axes ? p.dimensions : p.loops).push_back(d);
    }
    const LocalProblem problem = with_values(p, random);
    const LocalResult result = compute(*fft.plan(p), problem);
    EXPECT_LT(result.error, local_bound(problem)) << "problem " << i;
    EXPECT_TRUE(result.input_kept || p.may_destroy_input);
    EXPECT_TRUE(result.gaps_kept) << "problem " << i;
  }
  // What measures, powers of two, and short axes are left to FFTW as a whole.
  FftProblem p;
  p.in_place = true;
  p.dimensions = {{18, 40, 40}, {40, 1, 1}};
  EXPECT_GT(fft.plan(p)->work_bytes(), 0);
  p.effort = Effort::measure;
  EXPECT_EQ(fft.plan(p)->work_bytes(), 0);
  p.effort = Effort::estimate;
  p.dimensions = {{32, 64, 64}, {64, 1, 1}};
  EXPECT_EQ(fft.plan(p)->work_bytes(), 0);
  p.dimensions = {{48, 1, 1}, {50, 48, 48}, {2, 2400, 2400}};
  EXPECT_EQ(fft.plan(p)->work_bytes(), 0) << "an axis that is short";
}

TEST(LocalFft, ComputesRandomLayouts) {
  const FftRow fft = fftw_row();
  std::mt19937_64 random(4);
  for (int i = 0; i < 1000; ++i) {
    const LocalProblem problem = i % 4 == 0   ? random_r2r_problem(random)
                                 : i % 4 == 1 ? random_cosines_problem(random)
                                              : random_local_problem(random);
    if (!fft.unable(problem.fft).empty() || moves_reals(problem.fft)) continue;
    const LocalResult result = compute(*fft.plan(problem.fft), problem);
    ASSERT_LE(result.error, local_bound(problem)) << "problem " << i;
    ASSERT_TRUE(result.input_kept || problem.fft.may_destroy_input);
    ASSERT_TRUE(result.gaps_kept);
  }
}

// FFTW 3.3.10 crashes on this one, if it is not told that the array is unaligned.
TEST(LocalFft, ContiguousLinesThatBeginAnywhere) {
  FftProblem p;
  p.precision = Precision::float32;
  p.dimensions = {{4, 4, 1}};
  p.loops = {{4, 1, 5}, {5, 16, 20}};
  std::vector<std::complex<float>> in(80, 1), out(100);
  fftw_row().plan(p)->execute(in.data(), out.data(), nullptr);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(out[5 * i], 4.0f);
}

TEST(LocalFft, SaysWhatNoBackEndCanDo) {
  FftProblem p = line(1);
  p.kind = FftKind::r2r;
  p.dimensions[0].transform = Transform::dct1;
  expect_error([&] { plan_fft(find_ffts("fftw"), p); }, "a DCT of type 1 needs two points");
}

TEST(LocalFft, PlansBesideTheUsersOwnCalls) {
  ThreadTeam team(4);
  team.run([](const Comm& comm) {
    for (int i = 1; i < 40; ++i) {
      if (comm.rank() == 3) {
        std::vector<fftw_complex> data(static_cast<std::size_t>(i));
        fftw_plan p = fftw_plan_dft_1d(i, data.data(), data.data(), FFTW_FORWARD, FFTW_ESTIMATE);
        fftw_execute(p);
        fftw_destroy_plan(p);
      } else {
        Problem problem;
        problem.shape = {4, i};
        Plan plan(Comm::self(), problem);
        // Without threads of its own FFTW begins anew here, and what Weft has planned would be lost.
        if (comm.rank() == 2 && i == 9) fftw_plan_with_nthreads(1);
        Buffer<std::complex<double>> in(plan.input_count()), out(plan.output_count());
        in[0] = 1;  // an impulse becomes a constant
        plan.forward(static_cast<const std::complex<double>*>(in.data()), out.data());
        for (const auto& v : out) ASSERT_EQ(v, 1.0);
      }
    }
  });
}

}  // namespace weft::test
