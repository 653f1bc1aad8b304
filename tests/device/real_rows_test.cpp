// Rows of real numbers that kernels of Weft transform in device memory, against the direct sum.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <random>

#include "fft/calls/strided_lines.hpp"
#include "kernels/lines/radices.hpp"
#include "kernels/lines/tiles.hpp"
#include "support/exact_lines.hpp"
#include "support/on_device.hpp"

namespace weft::test {

TEST(DeviceRealRows, RadicesOfRealRows) {
  using Radices = std::array<int, LineStep::most_stages>;
  for (Index n = 4; n <= LineStep::most_points; ++n) {
    if (!line_radices(n)) continue;
    for (const RealRows reals : {RealRows::read, RealRows::stored}) {
      const Radices all = real_row_radices(n, reals);
      const auto end = std::ranges::find(all, 0);
      ASSERT_EQ(std::accumulate(all.begin(), end, Index{1}, std::multiplies<>()), n);
      // A larger one next to the modes needs a form of its own, which leaves its results in the tile.
      const bool is_read = reals == RealRows::read, leaves = is_read && (n == 128 || n == 256);
      const int next_to_modes = is_read ? *(end - 1) : all.front();
      EXPECT_EQ(next_to_modes > lines::largest_small_radix, leaves) << n;
    }
  }
  EXPECT_EQ(real_row_radices(128, RealRows::read), (Radices{8, 16}));
  EXPECT_EQ(real_row_radices(256, RealRows::read), (Radices{16, 16}));
  EXPECT_EQ(real_row_radices(256, RealRows::stored), (Radices{8, 4, 8}));
}

/// Rows of real numbers, and back; several loops, and rows that lie apart.
TEST(DeviceRealRows, AgainstTheDirectSum) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(37);
  for (const Index n : {8, 12, 18, 20, 42, 98, 128, 150, 240, 256, 500, 512, 1024, 2000, 2048})
    for (const Index rows : {1, 2, 7, 24})
      for (const Index apart : {0, 1, 3})
        for (const Precision precision : {Precision::float32, Precision::float64})
          for (const Direction direction : {Direction::forward, Direction::backward})
            for (const bool in_place : {true, false}) {
              if ((n > 300 && rows > 7) || (n > 600 && apart == 3)) continue;  // direct sums of n^2 terms
              FftProblem p;
              p.kind = FftKind::real;
              p.precision = precision;
              p.direction = direction;
              p.in_place = in_place;
              p.may_destroy_input = in_place;
              p.scale = rows == 7 ? 0.5 : 1;
              p.dimensions = {{n, 1, 1}};
              const Index modes = n / 2 + 1 + apart, reals = in_place ? 2 * modes : n + 2 * apart;
              const bool forward = direction == Direction::forward;
              const auto loop = [&](Index count, Index times, Index more) {
                const Index real = times * reals + 2 * more, complex = times * modes + more;
                return FftDimension{count, forward ? real : complex, forward ? complex : real};
              };
              p.loops = {loop(3, rows, 1), loop(rows, 1, 0)};
              expect_exact_lines(p, LineWay::kernels, random);
            }
}

/// Of which a block of threads has few, and in an order of loops that no merging makes fewer.
TEST(DeviceRealRows, LongAgainstTheDirectSum) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(41);
  for (const Index n : {30, 4802, 8192})
    for (const Precision precision : {Precision::float32, Precision::float64})
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        FftProblem p;
        p.kind = FftKind::real;
        p.precision = precision;
        p.direction = direction;
        p.dimensions = {{n, 1, 1}};
        const bool forward = direction == Direction::forward;
        const Index real = n + 2, complex = n / 2 + 1;
        const auto loop = [&](Index count, Index from, Index to) {
          return FftDimension{count, from * (forward ? real : complex), to * (forward ? complex : real)};
        };
        p.loops = {loop(2, 1, 4), loop(n > 100 ? 1 : 3, 4, 9), loop(n > 100 ? 1 : 2, 12, 1)};
        expect_exact_lines(p, LineWay::kernels, random);
      }
}

TEST(DeviceRealRows, WhatKernelsCannotDo) {
  CallStep step;
  step.call.kind = FftKind::real;
  step.call.axes = 1;
  step.call.n = {60, 0, 0};
  step.call.batch = 8;
  step.call.from = {{60, 0, 0}, 1, 60};
  step.call.to = {{31, 0, 0}, 1, 31};
  EXPECT_TRUE(kernels_can_real_rows(step));
  EXPECT_FALSE(kernels_can(step));
  EXPECT_FALSE(kernels_can_rows(step));
  const auto with = [&](const auto& change) {
    CallStep other = step;
    change(other);
    return kernels_can_real_rows(other);
  };
  EXPECT_FALSE(with([](CallStep& s) { s.call.n[0] = 61; })) << "an odd number of points";
  EXPECT_FALSE(with([](CallStep& s) { s.call.n[0] = 122; })) << "a half without radices";
  EXPECT_TRUE(with([](CallStep& s) { s.call.n[0] = 8192; }));
  EXPECT_FALSE(with([](CallStep& s) { s.call.n[0] = 16384; }));
  EXPECT_FALSE(with([](CallStep& s) { s.call.kind = FftKind::c2c; }));
  EXPECT_FALSE(with([](CallStep& s) { s.call.axes = 2; }));
  EXPECT_FALSE(with([](CallStep& s) { s.call.from.distance = 61; })) << "rows that begin anywhere";
  EXPECT_TRUE(with([](CallStep& s) { s.call.to.distance = 33; }));
  EXPECT_FALSE(with([](CallStep& s) { s.call.to.stride = 2; }));
}

}  // namespace weft::test
