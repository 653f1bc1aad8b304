// Lines that kernels of Weft transform in device memory, against the direct sum.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "fft/calls/plane_lines.hpp"
#include "fft/calls/run_calls.hpp"
#include "fft/calls/strided_lines.hpp"
#include "fft/calls/two_passes.hpp"
#include "kernels/lines/planes.hpp"
#include "kernels/lines/radices.hpp"
#include "kernels/lines/tiles.hpp"
#include "support/exact_lines.hpp"
#include "support/expect_error.hpp"
#include "support/host_divisor.hpp"
#include "support/local_problem.hpp"
#include "support/on_device.hpp"

namespace weft::test {

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
    const auto stages = std::ranges::count_if(*radices, [](int radix) { return radix > 0; });
    ASSERT_EQ(n / (*radices)[static_cast<std::size_t>(stages - 1)] % 2, n % 2) << "whole cells: " << n;
  }
}

constexpr std::array all_kinds{LineKind::apart, LineKind::rows, LineKind::rows_read, LineKind::rows_stored,
                               LineKind::planes};

/// They divide the number, kernels have them, and they are others than those by rule.
TEST(DeviceLines, MeasuredRadices) {
  int count = 0;
  for (const LineKind kind : all_kinds)
    for (Index n = 1; n <= LineStep::most_points; ++n) {
      const std::optional<LineRadices> found = measured_radices(n, kind);
      if (!found) continue;
      ++count;
      const auto stages =
          static_cast<int>(std::ranges::count_if(*found, [](int radix) { return radix > 0; }));
      ASSERT_GE(stages, 2);
      Index product = 1;
      for (int i = 0; i < stages; ++i) {
        const int radix = (*found)[static_cast<std::size_t>(i)];
        ASSERT_TRUE(radix > 1 && radix <= LineStep::largest_radix && radix != 11 && radix != 13 &&
                    radix != 14)
            << n;
        product *= radix;
      }
      ASSERT_EQ(product, n);
      // Of rows that are stored the rule is another one (`RadicesOfRealRows`).
      ASSERT_TRUE(kind == LineKind::rows_stored || found != line_radices(n)) << n;
      const int last = (*found)[static_cast<std::size_t>(stages - 1)];
      if (kind == LineKind::rows_read) {
        ASSERT_LE(last, lines::largest_small_radix) << n;
      }
      if (kind == LineKind::rows_stored) {
        ASSERT_LE(found->front(), lines::largest_small_radix) << n;
      }
      if (kind == LineKind::planes) {
        ASSERT_EQ(n / last % 2, n % 2) << "whole cells: " << n;
      }
    }
  EXPECT_GT(count, 50);
}

TEST(DeviceLines, RadicesOfPlanes) {
  using Radices = LineRadices;
  const auto of = [](Index n, bool of_reals = false) { return plane_radices(n, n, of_reals).second; };
  EXPECT_EQ(of(64), (Radices{8, 8}));
  EXPECT_EQ(of(128), (Radices{8, 16}));
  EXPECT_EQ(of(128, true), (Radices{8, 4, 4}));
  EXPECT_EQ(of(256), (Radices{8, 4, 8}));
  EXPECT_EQ(of(512), (Radices{8, 8, 8}));
  EXPECT_EQ(of(1024), (Radices{8, 4, 4, 8}));
  EXPECT_EQ(of(720), (Radices{15, 4, 12})) << "as measured";
  EXPECT_EQ(of(756), (Radices{9, 12, 7})) << "three tiles do not fit";
  EXPECT_EQ(plane_radices(256, 128, false).first, (Radices{16, 16})) << "both have three blocks, or none";
  EXPECT_EQ(plane_radices(840, 720, false).first, line_radices(840, lines::largest_small_radix));
  EXPECT_EQ(plane_radices(560, 640, false).first, measured_radices(560, LineKind::planes));
  EXPECT_EQ(plane_radices(560, 720, false).first, line_radices(560)) << "one is measured with large radices";
  for (Index n = 4; n <= LineStep::most_points; ++n) {
    const auto radices = line_radices(n, lines::largest_small_radix);
    ASSERT_EQ(radices.has_value(), line_radices(n).has_value()) << n;
    if (!radices) continue;
    Index product = 1;
    int last = 1;
    for (const int radix : *radices) {
      ASSERT_LE(radix, lines::largest_small_radix) << n;
      if (radix > 0) product *= last = radix;
    }
    ASSERT_EQ(product, n);
    ASSERT_EQ(n / last % 2, n % 2) << "whole cells: " << n;
  }
}

TEST(DeviceLines, LinesByKernelsAgainstTheDirectSum) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(13);
  // All radices, lines of two to four stages, in pairs and not, and more lines than a block has, and fewer.
  for (const Index n :
       {4, 6, 9, 10, 14, 21, 25, 49, 64, 75, 96, 120, 144, 150, 240, 243, 343, 500, 512, 1000, 1024})
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
            expect_exact_lines(p, LineWay::kernels, random);
          }
      }
}

/// Lines that several blocks of threads share, with known radices and with any.
TEST(DeviceLines, LinesOfSeveralBlocksAgainstTheDirectSum) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(31);
  for (const Index n : {864, 900, 945, 1024, 1080, 1372, 1536, 2048, 2401, 3600, 4096}) {
    EXPECT_TRUE(part_radices(n, most_line_parts)) << n;
    for (const Precision precision : {Precision::float32, Precision::float64})
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        FftProblem p;
        p.precision = precision;
        p.direction = direction;
        p.in_place = n % 3 == 0;
        p.scale = 0.25;
        const Index lines = (precision == Precision::float64 ? 8 : 16) + n % 5;  // 128 bytes at least
        const Index from = lines + n % 4, to = p.in_place ? from : lines + 1;
        p.dimensions = {{n, from, to}};
        p.loops = {{2, from * n + 4, p.in_place ? from * n + 4 : to * n + 6}, {lines, 1, 1}};
        const OnDevice fft(p, [](Device& device, const FftProblem& problem) {
          return make_fft_of_calls(
              device, problem, no_calls,
              {[](const CallStep&) { return LineWay::kernels; }, AxesOf::together, std::size_t{1} << 30});
        });
        const LocalProblem problem = with_products(p, random);
        const LocalResult result = compute(fft, problem);
        ASSERT_LE(result.error, local_bound(problem)) << n << " points";
        ASSERT_TRUE(result.gaps_kept);
      }
  }
}

/// Points of a line are adjacent, and so are its modes. Rows may lie apart.
TEST(DeviceLines, RowsByKernelsAgainstTheDirectSum) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(19);
  for (const Index n : {4, 6, 10, 49, 64, 75, 120, 150, 243, 500, 512, 1024})
    for (const Index rows : {2, 7, 24})
      for (const Index apart : {0, 3})
        for (const Precision precision : {Precision::float32, Precision::float64})
          for (const bool in_place : {true, false}) {
            if (n > 300 && rows > 10) continue;  // a direct sum of n^2 terms for each
            FftProblem p;
            p.precision = precision;
            p.direction = n % 4 == 0 ? Direction::forward : Direction::backward;
            p.in_place = in_place;
            p.scale = rows == 7 ? 0.5 : 1;
            p.dimensions = {{n, 1, 1}};
            p.loops = {{rows, n + apart, in_place ? n + apart : n}};
            expect_exact_lines(p, LineWay::kernels, random);
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
                expect_exact_lines(p, LineWay::passes, random, most_work);
            }
      }
}

namespace {

/// Rows of `row` points, `column` of them in a plane, with gaps behind all.
FftProblem in_planes(Index row, Index column, Index planes) {
  FftProblem p;
  const Index away = row + 2 * (column % 3);
  p.dimensions = {{column, away, row + column % 2}, {row, 1, 1}};
  p.loops = {{planes, away * column + 4, (row + column % 2) * column + 6}};
  return p;
}

}  // namespace

/// Lines, rows and planes of all measured lengths; of planes one axis has so many points.
TEST(DeviceLines, MeasuredLengthsAgainstTheDirectSum) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(43);
  int planes = 0;
  for (const LineKind kind : all_kinds)
    for (Index n = 1; n <= LineStep::most_points; ++n) {
      const std::optional<LineRadices> radices = measured_radices(n, kind);
      if (!radices) continue;
      constexpr Index lines = 5;
      FftProblem p;
      if (kind == LineKind::apart) {
        p.dimensions = {{n, lines, lines}};
        p.loops = {{lines, 1, 1}};
      } else if (kind == LineKind::rows) {
        p.dimensions = {{n, 1, 1}};
        p.loops = {{lines, n, n}};
      } else if (kind == LineKind::planes) {
        // Both axes have measured radices if both are small, as those of 320 points, or neither is.
        const bool are_small = std::ranges::max(*radices) <= lines::largest_small_radix;
        const Index row = are_small ? 320 : 336;
        ASSERT_EQ(plane_radices(row, n, false).second, radices) << n;
        p = in_planes(row, n, 1);
        ++planes;
      } else {
        const bool read = kind == LineKind::rows_read;
        p.kind = FftKind::real;
        p.direction = read ? Direction::forward : Direction::backward;
        p.dimensions = {{2 * n, 1, 1}};
        p.loops = {{lines, read ? 2 * n : n + 1, read ? n + 1 : 2 * n}};
      }
      p.precision = n / 4 % 2 == 0 ? Precision::float32 : Precision::float64;
      if (p.kind == FftKind::c2c) p.direction = n / 8 % 2 == 0 ? Direction::forward : Direction::backward;
      const OnDevice fft(p, [&](Device& device, const FftProblem& asked) {
        return kind == LineKind::planes ? plan_plane_lines(device, asked)
                                        : make_fft_of_calls(device, asked, no_calls,
                                                            {[](const CallStep&) { return LineWay::kernels; },
                                                             AxesOf::together, std::size_t{1} << 30});
      });
      const LocalProblem problem = with_products(p, random);
      const LocalResult result = compute(fft, problem);
      ASSERT_LE(result.error, local_bound(problem)) << n << " points, kind " << static_cast<int>(kind);
      ASSERT_TRUE(result.gaps_kept);
    }
  EXPECT_GT(planes, 10);
}

TEST(DeviceLines, TwoAxesInOneLaunchAgainstTheDirectSum) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(17);
  for (const auto& [row, column] : {std::pair<Index, Index>{4, 6},
                                    {10, 64},
                                    {64, 10},
                                    {21, 15},
                                    {49, 4},
                                    {96, 9},
                                    {64, 64},
                                    {128, 128},
                                    {256, 256},
                                    {256, 1024},
                                    {960, 20},
                                    {1024, 1024}})
    for (const Index planes : {1, 2, 7})
      for (const Precision precision : {Precision::float32, Precision::float64})
        for (const bool in_place : {true, false}) {
          const bool large = row > 200;
          if (large && (planes > 1 || in_place != (precision == Precision::float32))) continue;
          FftProblem p = in_planes(row, column, planes);
          p.precision = precision;
          p.direction =
              (row + planes + (in_place ? 1 : 0)) % 2 == 0 ? Direction::forward : Direction::backward;
          p.in_place = in_place;
          p.scale = 0.25;
          if (in_place)
            for (auto* all : {&p.dimensions, &p.loops})
              for (FftDimension& d : *all) d.to_stride = d.from_stride;
          if (planes % 2 == 0) std::swap(p.dimensions[0], p.dimensions[1]);
          const OnDevice fft(p,
                             [](Device& device, const FftProblem& q) { return plan_plane_lines(device, q); });
          EXPECT_EQ(fft.elsewise().by_kernels, (std::set<Index>{row, column}));
          const LocalProblem problem = large ? with_products(p, random) : with_values(p, random);
          const LocalResult result = compute(fft, problem);
          ASSERT_LE(result.error, local_bound(problem)) << row << " x " << column;
          ASSERT_TRUE(result.gaps_kept);
        }
}

/// Rows of real numbers, two of which are transformed as one.
TEST(DeviceLines, RealRowsInOneLaunchAgainstTheDirectSum) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(29);
  for (const auto& [row, column] : {std::pair<Index, Index>{4, 6},
                                    {10, 64},
                                    {64, 10},
                                    {21, 14},
                                    {49, 4},
                                    {96, 18},
                                    {15, 50},
                                    {64, 64},
                                    {128, 128},
                                    {256, 256},
                                    {512, 512},
                                    {256, 1024},
                                    {960, 20},
                                    {1024, 1024}})
    for (const Index planes : {1, 2, 11})
      for (const Precision precision : {Precision::float32, Precision::float64}) {
        const bool large = row > 200;
        if (large && planes > 1) continue;
        FftProblem p;
        p.kind = FftKind::real;
        p.precision = precision;
        p.scale = 0.5;
        const Index from = row + planes % 3, to = row / 2 + 1 + column % 3;
        p.dimensions = {{column, from, to}, {row, 1, 1}};
        p.loops = {{planes, from * column + 2, to * column + 5}};
        const std::optional<PlaneRing> ring =
            planes > 2 ? std::optional(PlaneRing{2, 3}) : std::optional<PlaneRing>();
        const OnDevice fft(
            p, [&](Device& device, const FftProblem& q) { return plan_plane_lines(device, q, ring); });
        const LocalProblem problem = large ? with_products(p, random) : with_values(p, random);
        const LocalResult result = compute(fft, problem);
        ASSERT_LE(result.error, local_bound(problem)) << row << " x " << column;
        ASSERT_TRUE(result.gaps_kept);
      }
}

/// The ring is shorter than the planes, so that tiles wait for room; and launches follow each other: each
/// needs counters of zero, as the one before has to leave them.
TEST(DeviceLines, TwoAxesInOneLaunchAfterTheOther) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(23);
  for (const auto& [row, column] : {std::pair<Index, Index>{4, 6}, {64, 10}, {10, 64}, {96, 48}})
    for (const PlaneRing ring : {PlaneRing{2, 3}, {2, 5}, {4, 5}, {11, 11}}) {
      FftProblem p = in_planes(row, column, 11);
      p.precision = ring.slots == 5 ? Precision::float32 : Precision::float64;
      p.in_place = false;
      const OnDevice fft(
          p, [&](Device& device, const FftProblem& q) { return plan_plane_lines(device, q, ring); }, 4);
      const LocalProblem problem = with_values(p, random);
      for (int i = 0; i < 2; ++i) {
        const LocalResult result = compute(fft, problem);
        ASSERT_LE(result.error, local_bound(problem)) << row << " x " << column << ", " << ring.slots;
        ASSERT_TRUE(result.gaps_kept);
      }
    }
}

TEST(DeviceLines, WhatTwoAxesInOneLaunchCannotBe) {
  const FftProblem p = in_planes(60, 36, 8);
  EXPECT_TRUE(planes_can(p));
  const auto with = [&](const auto& change) {
    FftProblem other = p;
    change(other);
    return planes_can(other);
  };
  EXPECT_TRUE(with([](FftProblem& q) { q.dimensions.push_back({1, 7, 7}); }));
  EXPECT_TRUE(with([](FftProblem& q) { q.loops.clear(); }));
  EXPECT_FALSE(with([](FftProblem& q) { q.dimensions.pop_back(); })) << "one axis";
  EXPECT_FALSE(with([](FftProblem& q) { q.dimensions.push_back({5, 99999, 99999}); })) << "three axes";
  EXPECT_FALSE(with([](FftProblem& q) { q.dimensions[0].n = 11; }));
  EXPECT_FALSE(with([](FftProblem& q) { q.dimensions[1].n = 8192; }));
  EXPECT_TRUE(with([](FftProblem& q) { q.kind = FftKind::real; }));
  const auto real_with = [&](const auto& change) {
    return with([&](FftProblem& q) {
      q.kind = FftKind::real;
      change(q);
    });
  };
  EXPECT_FALSE(real_with([](FftProblem& q) { q.direction = Direction::backward; }));
  EXPECT_FALSE(real_with([](FftProblem& q) { q.dimensions[0].n = 15; })) << "an odd number of rows";
  EXPECT_FALSE(real_with([](FftProblem& q) { q.loops[0].from_stride += 1; }));
  EXPECT_FALSE(with([](FftProblem& q) { q.dimensions[1].to_stride = 2; })) << "no contiguous axis";
  EXPECT_FALSE(with([](FftProblem& q) { q.dimensions[1].diverted = true; }))
      << "modes of the contiguous axis";
  EXPECT_FALSE(with([](FftProblem& q) { q.loops[0].n = Index{1} << 17; })) << "too many planes";
}

/// Blocks of threads wait for tiles before theirs alone, whatever the number of tiles of a plane.
TEST(DeviceLines, TilesWaitForThoseBeforeThem) {
  std::mt19937_64 random(19);
  for (int i = 0; i < 2000; ++i) {
    const auto some = [&](Index most) {
      return 1 + static_cast<Index>(random() % static_cast<unsigned>(most));
    };
    PlaneLines step;
    step.planes = some(20);
    step.lead = std::min(step.planes, 1 + some(6));
    step.slots = std::min(step.planes, step.lead + some(4));
    const std::array tiles{static_cast<std::uint32_t>(some(9)), static_cast<std::uint32_t>(some(9))};
    const lines::TileOrder<HostDivisor<std::uint32_t>> order(step, tiles[0], tiles[1]);
    ASSERT_EQ(order.count(), static_cast<std::uint32_t>(step.planes) * (tiles[0] + tiles[1]));
    std::array<std::vector<std::uint32_t>, 2> done;
    for (auto& of_planes : done) of_planes.resize(static_cast<std::size_t>(step.planes));
    for (std::uint32_t position = 0; position < order.count(); ++position) {
      const auto [is_second, plane, number] = order(position);
      ASSERT_EQ(number, done[is_second][plane]++) << "each tile once, in order";
      if (is_second) {
        ASSERT_EQ(done[0][plane], tiles[0]);
      } else if (plane >= step.slots) {
        ASSERT_EQ(done[1][plane - static_cast<std::uint32_t>(step.slots)], tiles[1]);
      }
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
