// Codec zfp: its bounds, what it refuses, and its names.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/coded_row.hpp"
#include "support/expect_error.hpp"

namespace weft::test {

using codec::Outcome;

/// Four numbers that make the most of what zfp's bound allows: the largest is a power of two, what is cut is
/// as large as it can be, and the transform adds it up.
TEST(Zfp, KeepsItsBoundForTheWorstFours) {
  if (!zfp::missing().empty()) GTEST_SKIP() << zfp::missing();
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const char* name : {"zfp:8", "zfp:9", "zfp:12", "zfp:16", "zfp:21", "zfp:32", "zfp:48", "zfp:56"}) {
    Row<double> row(row_kernels().back(), find_codec(name), 4);
    const auto loss = [&](const std::vector<double>& x) {
      std::vector<double> y;
      EXPECT_EQ(row.encode(x), Outcome::good);
      EXPECT_EQ(row.decode(0, 4, y), Outcome::good);
      return error(x, y) / relative_error(row.codec);
    };
    double worst = 0;
    for (int start = 0; start < 60; ++start) {
      std::vector<double> x(4);
      for (double& v : x) v = uniform(random) * std::ldexp(1.0, -static_cast<int>(random() % 4));
      x[random() % 4] = random() % 2 == 0 ? 1 : -1;
      double here = loss(x);
      for (int step = 0; step < 600; ++step) {
        std::vector<double> other = x;
        other[random() % 4] += uniform(random) * std::ldexp(1.0, -static_cast<int>(random() % 56));
        if (const double there = loss(other); there > here) {
          x = other;
          here = there;
        }
      }
      worst = std::max(worst, here);
    }
    EXPECT_LE(worst, 1) << name;
    EXPECT_GT(worst, 0.1) << name << ": the bound could be smaller";
    RecordProperty(name, std::to_string(worst));
  }
}

namespace {

template <class Real>
void refuses_what_it_cannot_keep() {
  using Limits = std::numeric_limits<Real>;
  for (const Real special :
       {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), -Limits::signaling_NaN()})
    for (const std::size_t at : {0U, 63U, 64U, 69U}) {
      std::vector<Real> x(70, 1);
      x[at] = special;
      EXPECT_EQ(Row<Real>(row_kernels().back(), find_codec("zfp:16"), 70).encode(x), Outcome::not_finite);
    }
  // Zeros stay zeros, denormal numbers keep the bits that they have, and small ones vanish beside large ones.
  for (const Real size : {Real(0), Limits::denorm_min(), 5 * Limits::denorm_min(), Limits::min()}) {
    Row<Real> row(row_kernels().back(), find_codec("zfp:28"), 64);
    std::vector<Real> x(64, -size), y;
    x[17] = size;
    ASSERT_EQ(row.encode(x), Outcome::good);
    ASSERT_EQ(row.decode(0, 64, y), Outcome::good);
    EXPECT_LE(error(x, y), relative_error(row.codec));
    if (size <= Limits::denorm_min()) {
      EXPECT_EQ(x, y);
    }
    x[40] = Limits::max() / 4;
    ASSERT_EQ(row.encode(x), Outcome::good);
    ASSERT_EQ(row.decode(0, 64, y), Outcome::good);
    EXPECT_EQ(y[17], 0);
    EXPECT_LE(error(x, y), relative_error(row.codec));
  }
}

}  // namespace

TEST(Zfp, RefusesWhatItCannotKeep) {
  if (!zfp::missing().empty()) GTEST_SKIP() << zfp::missing();
  refuses_what_it_cannot_keep<double>();
  refuses_what_it_cannot_keep<float>();
}

/// Real and imaginary parts are smooth each by themselves, and alternate in memory.
TEST(Zfp, CodesPartsOfComplexNumbersByThemselves) {
  if (!zfp::missing().empty()) GTEST_SKIP() << zfp::missing();
  const Index points = 150;
  std::vector<double> x, y;
  for (Index i = 0; i < points; ++i) {
    const double t = 0.1 * static_cast<double>(i);
    x.insert(x.end(), {std::exp(std::cos(t)), 1e-3 * std::sin(t)});
  }
  for (const int point_reals : {1, 2}) {
    Row<double> row(row_kernels().back(), find_codec("zfp:16"), 2 * points, point_reals);
    ASSERT_EQ(row.encode(x), Outcome::good);
    ASSERT_EQ(row.decode(0, 2 * points, y), Outcome::good);
    EXPECT_LE(error(x, y), point_reals == 2 ? 2e-4 : relative_error(row.codec));
    for (Index first = 0; first < points; first += 7) {
      std::vector<double> part;
      ASSERT_EQ(row.decode(2 * first, std::min(2 * points, 2 * first + 34), part), Outcome::good);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), y.begin() + 2 * first));
    }
  }
}

TEST(Zfp, NamesAndErrors) {
  EXPECT_EQ(row_bytes(find_codec("zfp:16"), 128, 8), 8 + 256);
  EXPECT_EQ(row_bytes(find_codec("zfp:11"), 67, 8), 8 + 104);
  expect_error([] { find_codec("zfp"); }, "zfp:m with m from 8 to 56");
  expect_error([] { find_codec("zfp:0"); }, "zfp:m with m from 8 to 56");
  expect_error([] { find_codec("zfp:57"); }, "zfp:m with m from 8 to 56");
  expect_error([] { find_codec("zfp:-16"); }, "zfp:m with m from 8 to 56");
  expect_error([] { find_codec("zfp-accuracy:1e-6"); }, "zfp:16, a fixed rate");
  expect_error([] { check_codec(find_codec("zfp:29"), 4); }, "numbers of 4 bytes");
  EXPECT_NO_THROW(check_codec(find_codec("zfp:28"), 4));
}

}  // namespace weft::test
