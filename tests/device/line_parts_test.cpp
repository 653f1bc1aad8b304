// Lines that several blocks of threads share: their radices, and modes that are stored elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "fft/calls/strided_lines.hpp"
#include "kernels/lines/radices.hpp"
#include "kernels/lines/tiles.hpp"
#include "support/device_mirror.hpp"
#include "support/on_device.hpp"

namespace weft::test {

TEST(DeviceLines, RadicesOfParts) {
  using Radices = std::array<int, LineStep::most_stages>;
  EXPECT_EQ(part_radices(1024, most_line_parts), (Radices{4, 8, 8, 4}));
  EXPECT_EQ(part_radices(1080, most_line_parts), (Radices{4, 9, 6, 5})) << "rows of 256 bytes, fewest blocks";
  EXPECT_EQ(part_radices(2400, most_line_parts), (Radices{8, 10, 6, 5})) << "short parts";
  EXPECT_EQ(part_radices(2048, 4), (Radices{4, 8, 8, 8}));
  EXPECT_EQ(part_radices(4096, 4), std::nullopt) << "parts would be too long";
  EXPECT_EQ(part_radices(1024, 1), std::nullopt) << "a device whose blocks share nothing";
  for (Index n = 1; n <= LineStep::most_points + 1; ++n) {
    const auto radices = part_radices(n, most_line_parts);
    if (!radices) continue;
    ASSERT_TRUE(line_radices(n)) << n;
    Index product = 1;
    for (const int radix : *radices) product *= std::max(radix, 1);
    ASSERT_EQ(product, n);
    ASSERT_LE(radices->front(), most_line_parts) << n;
    ASSERT_GT((*radices)[2], 1) << "three stages: " << n;
    constexpr Index shared = 227 << 10, many = 1 << 20;
    ASSERT_GE(lines::part_column_shift(n / radices->front(), 16, many, shared), 3U)
        << "rows of 128 bytes: " << n;
  }
}

/// Cells have 64 bytes of adjacent lines.
TEST(DeviceLines, RunsThatBlocksShareLinesOf) {
  for (const int real_bytes : {4, 8}) {
    LineStep step;
    step.n = 1024;
    step.real_bytes = real_bytes;
    step.count = 2;
    const auto shared = [&](Index adjacent, Index from = 1, Index to = 1) {
      step.loops = {{{adjacent, from, to}, {64, adjacent * step.n, adjacent * step.n}}};
      return shared_radices(step, most_line_parts);
    };
    const Index cell = 32 / real_bytes;
    EXPECT_EQ(shared(cell), std::nullopt);
    EXPECT_EQ(shared(2 * cell), part_radices(1024, most_line_parts));
    EXPECT_EQ(shared(1000), part_radices(1024, most_line_parts));
    EXPECT_EQ(shared(1000, 2), std::nullopt) << "lines that are not adjacent";
    EXPECT_EQ(shared(1000, 1, 2), std::nullopt) << "modes that are not adjacent";
  }
}

namespace {

/// Lines that blocks share, some modes of which go to two other arrays, and the same ones without that.
template <class Real>
void expect_diverted(Index n, bool forward) {
  using Number = std::complex<Real>;
  constexpr Index lines = 17, first = 100, count = 500, begin = 220;
  const auto device = current_device();
  const auto scope = std::make_unique<DeviceScope>(*device);
  LineStep step;
  step.n = n;
  step.from_stride = step.to_stride = step.diverted_stride = lines;
  step.loops[0] = {lines, 1, 1, 1};
  step.count = 1;
  step.forward = forward;
  step.real_bytes = sizeof(Real);
  step.factor = 0.5;
  ASSERT_TRUE(shared_radices(step, most_line_parts));
  const std::shared_ptr<StreamFft> plain = plan_line_step(*device, step);
  step.diverted = {first, count, 4, 2, {0, begin}};
  const std::shared_ptr<StreamFft> diverting = plan_line_step(*device, step);
  std::mt19937_64 random(37);
  std::uniform_real_distribution<Real> values(-1, 1);
  const auto size = static_cast<std::size_t>(n * lines);
  std::vector<Number> in(size), expected(size), out(size, 99),
      elsewhere(static_cast<std::size_t>(count * lines), 99);
  for (Number& x : in) x = {values(random), values(random)};
  DeviceMirror mirror;
  std::byte* const from = mirror.upload(in.data(), size * sizeof(Number));
  std::byte* const to = mirror.upload(expected.data(), size * sizeof(Number));
  plain->enqueue(mirror.stream(), from, to, nullptr, {});
  mirror.download(expected.data(), to, size * sizeof(Number));
  std::byte* const target = mirror.upload(out.data(), size * sizeof(Number));
  std::byte* const others = mirror.upload(elsewhere.data(), elsewhere.size() * sizeof(Number));
  // The second piece lies before the first one.
  const auto bytes = [](Index modes) { return static_cast<std::size_t>(modes * lines) * sizeof(Number); };
  const std::array<std::byte*, 2> pieces{others + bytes(count - begin), others};
  FftContext context;
  context.diverted = pieces;
  diverting->enqueue(mirror.stream(), from, target, nullptr, context);
  mirror.download(out.data(), target, size * sizeof(Number));
  mirror.download(elsewhere.data(), others, elsewhere.size() * sizeof(Number));
  for (Index mode = 0; mode < n; ++mode)
    for (Index line = 0; line < lines; ++line) {
      const Number value = expected[static_cast<std::size_t>(mode * lines + line)],
                   here = out[static_cast<std::size_t>(mode * lines + line)];
      const Index diverted = mode - first;
      if (diverted < 0 || diverted >= count) {
        ASSERT_EQ(here, value) << "mode " << mode << " of " << n;
        continue;
      }
      ASSERT_EQ(here, Number(99)) << "mode " << mode << " of " << n;
      const Index at = diverted < begin ? diverted + count - begin : diverted - begin;
      ASSERT_EQ(elsewhere[static_cast<std::size_t>(at * lines + line)], Real(4) * value) << "mode " << mode;
    }
}

}  // namespace

TEST(DeviceLines, LinesOfSeveralBlocksStoreModesElsewhere) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  for (const Index n : {1024, 1080})
    for (const bool forward : {true, false}) {
      expect_diverted<double>(n, forward);
      expect_diverted<float>(n, forward);
    }
}

}  // namespace weft::test
