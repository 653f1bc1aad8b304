// Lines that kernels of Weft transform in device memory, against the direct sum.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "fft/calls/run_calls.hpp"
#include "fft/calls/strided_lines.hpp"
#include "fft/calls/two_passes.hpp"
#include "kernels/lines/step.hpp"
#include "support/expect_error.hpp"
#include "support/local_problem.hpp"
#include "support/on_device.hpp"

namespace weft::test {

namespace {

/// A library that must not be called.
std::shared_ptr<StreamFft> no_calls(const CufftCall& call) {
  ADD_FAILURE() << to_string(call);
  return nullptr;
}

/// Computed by a way alone. Errors and gaps are looked at.
void expect_exact(const FftProblem& p, LineWay way, std::mt19937_64& random,
                  std::size_t most_work = std::size_t{1} << 30) {
  const OnDevice fft(p, [&](Device& device, const FftProblem& problem) {
    return make_fft_of_calls(device, problem, no_calls,
                             {[&](const CallStep& step) {
                                EXPECT_TRUE(way == LineWay::passes ? passes_can(step) : kernels_can(step));
                                return way;
                              },
                              AxesOf::together, most_work});
  });
  EXPECT_EQ(fft.elsewise().by_kernels, std::set<Index>{p.dimensions[0].n});
  const LocalProblem problem = with_values(p, random);
  const LocalResult result = compute(fft, problem);
  ASSERT_LE(result.error, local_bound(problem)) << p.dimensions[0].n << " points";
  ASSERT_TRUE(result.gaps_kept);
}

}  // namespace

TEST(DeviceLines, RadicesOfLines) {
  for (Index n = 1; n <= LineStep::most_points + 1; ++n) {
    Index rest = n;
    for (const Index prime : {2, 3, 5, 7})
      while (rest % prime == 0) rest /= prime;
    const bool is_prime = n == 2 || n == 3 || n == 5 || n == 7;
    const auto radices = line_radices(n);
    ASSERT_EQ(radices.has_value(), rest == 1 && n > 1 && !is_prime && n <= LineStep::most_points) << n;
    if (!radices) continue;
    Index product = 1;
    for (const int radix : *radices) product *= std::max(radix, 1);
    ASSERT_EQ(product, n);
    ASSERT_GT((*radices)[1], 1) << n;
  }
}

TEST(DeviceLines, LinesByKernelsAgainstTheDirectSum) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(13);
  // All radices, lines of two to four stages, in pairs and not, and more lines than a block has, and fewer.
  for (const Index n :
       {4, 6, 9, 10, 14, 21, 25, 49, 64, 75, 96, 120, 144, 150, 240, 243, 343, 500, 1000, 1024})
    for (const Index lines : {2, 7, 24})
      for (const Index planes : {1, 3}) {
        if (n > 300 && lines * planes > 10) continue;  // a direct sum of n^2 terms for each
        for (const Precision precision : {Precision::float32, Precision::float64})
          for (const bool in_place : {true, false}) {
            FftProblem p;
            p.precision = precision;
            p.direction = (n + lines) % 2 == 0 ? Direction::forward : Direction::backward;
            p.in_place = in_place;
            p.scale = 0.25;
            const Index from = lines + 2 * (n % 2), to = in_place ? from : lines + 1;
            p.dimensions = {{n, from, to}};
            p.loops = {{planes, from * n + 4, in_place ? from * n + 4 : to * n + 6}, {lines, 1, 1}};
            expect_exact(p, LineWay::kernels, random);
          }
      }
}

TEST(DeviceLines, WhatKernelsCannotDo) {
  CallStep step;
  step.call.axes = 1;
  step.call.n = {60, 0, 0};
  step.call.batch = 8;
  step.call.from = step.call.to = {{60, 0, 0}, 8, 1};
  EXPECT_TRUE(kernels_can(step));
  const auto with = [&](const auto& change) {
    CallStep other = step;
    change(other);
    return kernels_can(other);
  };
  EXPECT_FALSE(with([](CallStep& s) { s.call.n[0] = 61; }));
  EXPECT_FALSE(with([](CallStep& s) { s.call.n[0] = 8192; }));
  EXPECT_FALSE(with([](CallStep& s) { s.call.kind = FftKind::real; }));
  EXPECT_FALSE(with([](CallStep& s) { s.call.axes = 2; }));
  EXPECT_FALSE(with([](CallStep& s) { s.call.batch = 1; }));
  EXPECT_FALSE(with([](CallStep& s) { s.call.to = {{60, 0, 0}, 1, 60}; })) << "lines that are not adjacent";
  EXPECT_FALSE(with([](CallStep& s) { s.loops = {{Index{1} << 31, 480, 480}}; }));
}

TEST(DeviceLines, TwoPassesAgainstTheDirectSum) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(15);
  for (const Index n : {16, 24, 60, 81, 96, 210, 1000})
    for (const Index lines : {1, 2, 7, 24})
      for (const Index planes : {1, 3}) {
        if (n > 100 && lines * planes > 3) continue;  // a direct sum of n^2 terms for each
        for (const Precision precision : {Precision::float32, Precision::float64})
          for (const bool in_place : {true, false})
            for (const bool adjacent : {true, false}) {
              if (adjacent && lines == 1) continue;
              FftProblem p;
              p.precision = precision;
              p.direction = (n + lines) % 2 == 0 ? Direction::forward : Direction::backward;
              p.in_place = in_place;
              p.scale = 0.25;
              // Either lines are adjacent, or points. Both have gaps.
              const Index gap = 2 * (n % 2), across = (adjacent ? lines : n) + gap;
              const Index to_across = in_place ? across : across + 1;
              const Index away = (adjacent ? n : lines) * across + 4,
                          to_away = in_place ? away : (adjacent ? n : lines) * to_across + 6;
              p.dimensions = {{n, adjacent ? across : 1, adjacent ? to_across : 1}};
              p.loops = {{planes, away, to_away}, {lines, adjacent ? 1 : across, adjacent ? 1 : to_across}};
              for (const std::size_t most_work : {std::size_t{1} << 30, std::size_t{20} << 10})
                expect_exact(p, LineWay::passes, random, most_work);
            }
      }
}

TEST(DeviceLines, WhatTwoPassesCannotDo) {
  CallStep step;
  step.call.axes = 1;
  step.call.n = {8192, 0, 0};
  step.call.batch = 8;
  step.call.from = step.call.to = {{8192, 0, 0}, 8, 1};
  EXPECT_TRUE(passes_can(step));
  const auto with = [&](const auto& change) {
    CallStep other = step;
    change(other);
    return passes_can(other);
  };
  EXPECT_TRUE(with([](CallStep& s) { s.call.from = s.call.to = {{8192, 0, 0}, 1, 8192}; }));
  EXPECT_FALSE(with([](CallStep& s) { s.call.to = {{8192, 0, 0}, 1, 8192}; })) << "rows on one side only";
  EXPECT_FALSE(with([](CallStep& s) { s.call.n[0] = 8191; }));
  EXPECT_FALSE(with([](CallStep& s) { s.call.n[0] = 2 * 4099; }));
  EXPECT_FALSE(with([](CallStep& s) { s.call.kind = FftKind::real; }));
  EXPECT_FALSE(with([](CallStep& s) { s.call.batch = Index{1} << 18; })) << "more elements than positions";
  ScopedDevices devices;
  ScopedDevices::choose(0);
  const auto device = current_device();
  step.call.n[0] = 8191;
  expect_error([&] { plan_lines_in_passes(*device, step, 1 << 20, 1); }, "in two passes");
}

}  // namespace weft::test
