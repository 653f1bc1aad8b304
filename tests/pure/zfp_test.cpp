// Codecs zfp and zfp-accuracy: their bounds, what they refuse, their names; rows whose length varies, as they
// are in messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/varying_rows.hpp"
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
      for (const char* name : {"zfp:16", "zfp-accuracy:12"})
        EXPECT_EQ(Row<Real>(row_kernels().back(), find_codec(name), 70).encode(x), Outcome::not_finite);
    }
  // Zeros stay zeros, denormal numbers keep the bits that they have, and small ones vanish beside large ones.
  for (const char* name : {"zfp:28", "zfp-accuracy:17"})
    for (const Real size : {Real(0), Limits::denorm_min(), 5 * Limits::denorm_min(), Limits::min()}) {
      Row<Real> row(row_kernels().back(), find_codec(name), 64);
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

namespace {

/// The largest error of a number, relative to the largest number.
template <class Real>
double largest_error(const std::vector<Real>& x, const std::vector<Real>& y) {
  long double error = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    error = std::max(error, std::fabs(static_cast<long double>(x[i]) - y[i]));
    largest = std::max(largest, std::fabs(static_cast<long double>(x[i])));
  }
  return largest > 0 ? static_cast<double>(error / largest) : static_cast<double>(error);
}

/// Blocks that zfp finds hard: noise of many sizes, some of it in every plane of bits.
template <class Real>
void keeps_an_accuracy() {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  double worst = 0;
  for (int m = 4; m <= 45; ++m) {
    const Codec codec = find_codec("zfp-accuracy:" + std::to_string(m));
    if (codec.row->wire_bits(m, sizeof(Real)) == 0) continue;
    for (int trial = 0; trial < 400; ++trial) {
      const Index n = 1 + static_cast<Index>(random() % 64);
      Row<Real> row(row_kernels().back(), codec, n, n % 2 == 0 ? 1 + trial % 2 : 1);
      const int spread = 1 << random() % 6, size = static_cast<int>(random() % 200) - 100;
      std::vector<Real> x(static_cast<std::size_t>(n)), y;
      for (Real& v : x)
        v = static_cast<Real>(std::ldexp(trial % 3 == 0 ? (random() % 2 == 0 ? 1.0 : -1.0) : uniform(random),
                                         size - static_cast<int>(random() % spread)));
      ASSERT_EQ(row.encode(x), Outcome::good);
      ASSERT_EQ(row.decode(0, n, y), Outcome::good) << n << " numbers, " << to_string(codec);
      ASSERT_LE(largest_error(x, y), std::ldexp(1, -m)) << n << " numbers, " << to_string(codec);
      ASSERT_LE(error(x, y), relative_error(codec)) << n << " numbers, " << to_string(codec);
      worst = std::max(worst, largest_error(x, y) * std::ldexp(1, m));
    }
  }
  EXPECT_GT(worst, 0.2) << "the bound could be smaller";
}

/// A part of several rows, and what it is in a message.
template <class Real>
struct Part {
  Codec codec;
  codec::VaryingRows rows;
  ZfpStream zfp;
  std::vector<std::byte> room, message;

  Part(const std::string& name, Index count, Index reals)
      : codec(find_codec(name)),
        rows{count, row_bytes(codec, reals, sizeof(Real)), reals,
             codec.row->wire_bits(codec.bits, sizeof(Real))} {}
  void encode(const std::vector<Real>& x) {
    room.assign(static_cast<std::size_t>(rows.rows * rows.bytes), std::byte{0xA5});
    const RowManner manner{codec.bits, 1, &zfp};
    for (Index r = 0; r < rows.rows; ++r)
      ASSERT_EQ(row_coder(codec, sizeof(Real))
                    .encode(reinterpret_cast<const std::byte*>(x.data() + r * rows.reals), 0, rows.reals,
                            rows.reals, manner, room.data() + r * rows.bytes),
                Outcome::good);
    message = room;
    message.resize(static_cast<std::size_t>(compact(rows, message.data())));
  }
  /// What comes of bytes that have arrived.
  Outcome decode(const std::vector<std::byte>& arrived, std::vector<Real>& x) {
    std::vector<std::byte> all(room.size(), std::byte{0x3C});
    std::copy(arrived.begin(), arrived.end(), all.begin());
    spread(rows, all.data(), static_cast<Index>(arrived.size()));
    x.assign(static_cast<std::size_t>(rows.rows * rows.reals), Real(-77));
    Outcome outcome = Outcome::good;
    const RowManner manner{codec.bits, 1, &zfp};
    for (Index r = 0; r < rows.rows; ++r)
      outcome =
          codec::worse(outcome, row_coder(codec, sizeof(Real))
                                    .decode(all.data() + r * rows.bytes, rows.reals, 0, rows.reals, manner,
                                            reinterpret_cast<std::byte*>(x.data() + r * rows.reals)));
    return outcome;
  }
};

/// Rows that are smooth, noisy, zero and a few numbers among zeros, in turn.
template <class Real>
std::vector<Real> mixed(Index rows, Index reals, std::uint64_t seed) {
  std::vector<Real> x = normal<Real>(rows * reals, seed);
  for (Index r = 0; r < rows; ++r)
    for (Index i = 0; i < reals; ++i) {
      Real& v = x[static_cast<std::size_t>(r * reals + i)];
      if (r % 4 == 0) v = static_cast<Real>(std::exp(std::sin(0.05 * static_cast<double>(i + r))));
      if (r % 4 == 2 || (r % 4 == 3 && i % 50 != 7)) v = 0;
    }
  return x;
}

}  // namespace

/// Whatever the same thread has coded before.
TEST(Zfp, SameNumbersTakeTheSameBytes) {
  if (!zfp::missing().empty()) GTEST_SKIP() << zfp::missing();
  for (const char* name : {"zfp:11", "zfp-accuracy:11"}) {
    Row<double> row(row_kernels().back(), find_codec(name), 73);
    const std::vector<double> x(73, 0.3);
    ASSERT_EQ(row.encode(x), Outcome::good);
    const std::vector<std::byte> bytes = row.bytes;
    ASSERT_EQ(row.encode(normal<double>(73, 1)), Outcome::good);
    std::fill(row.bytes.begin(), row.bytes.end(), std::byte{0xA5});
    for (const Index first : {64, 0})
      row.coder.encode(reinterpret_cast<const std::byte*>(x.data()), first, std::min<Index>(73, first + 64),
                       73, row.manner, row.bytes.data());
    EXPECT_EQ(row.bytes, bytes) << name;
  }
}

TEST(ZfpAccuracy, KeepsEveryNumberNearToTheLargest) {
  if (!zfp::missing().empty()) GTEST_SKIP() << zfp::missing();
  keeps_an_accuracy<double>();
  keeps_an_accuracy<float>();
}

/// Of fours about as small as the accuracy few planes of bits are coded, and the inverse transform of what is
/// left of them must not overflow: all signs and many sizes beside the largest number of the block.
TEST(ZfpAccuracy, KeepsFoursAboutAsSmallAsTheAccuracy) {
  if (!zfp::missing().empty()) GTEST_SKIP() << zfp::missing();
  for (const int m : {4, 5, 9, 17})
    for (int exponent = -m - 6; exponent <= 0; ++exponent)
      for (int choice = 0; choice < 5 * 5 * 5 * 5; ++choice) {
        Row<float> row(row_kernels().back(), find_codec("zfp-accuracy:" + std::to_string(m)), 8, 1);
        const float below = std::nextafter(std::ldexp(1.0F, exponent), 0.0F);
        const std::array<float, 5> of = {below, -below, below / 4, -below / 4, 0};
        std::vector<float> x = {1, 0, 0, 0, 0, 0, 0, 0}, y;
        for (std::size_t i = 0, c = static_cast<std::size_t>(choice); i < 4; ++i, c /= 5)
          x[4 + i] = of[c % 5];
        ASSERT_EQ(row.encode(x), Outcome::good);
        ASSERT_EQ(row.decode(0, 8, y), Outcome::good);
        ASSERT_LE(largest_error(x, y), std::ldexp(1, -m)) << exponent << ", choice " << choice;
        ASSERT_LE(error(x, y), relative_error(row.codec)) << exponent << ", choice " << choice;
      }
}

TEST(ZfpAccuracy, SmoothNumbersTakeFewerBytes) {
  if (!zfp::missing().empty()) GTEST_SKIP() << zfp::missing();
  const auto bytes = [](double step, double noise) {
    const Index rows = 3, reals = 500;
    std::vector<double> x = normal<double>(rows * reals, 1, noise);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += std::sin(step * static_cast<double>(i));
    Part<double> part("zfp-accuracy:20", rows, reals);
    part.encode(x);
    return static_cast<double>(part.message.size()) / static_cast<double>(part.room.size());
  };
  EXPECT_LT(bytes(0, 0), 0.06);
  EXPECT_LT(bytes(0.01, 0), 0.8);
  EXPECT_LT(bytes(0.01, 0), bytes(0.1, 0));
  EXPECT_LT(bytes(0.1, 0), bytes(0, 1));
  EXPECT_LT(bytes(0, 1), 0.95);
}

TEST(ZfpAccuracy, RowsOfAnyLengthComeBackFromMessages) {
  if (!zfp::missing().empty()) GTEST_SKIP() << zfp::missing();
  for (const char* name : {"zfp-accuracy:4", "zfp-accuracy:17"})
    for (const Index rows : {1, 2, 7})
      for (const Index reals : {1, 8, 9, 63, 64, 65, 72, 128, 200}) {
        SCOPED_TRACE(name + (" " + std::to_string(rows)) + " rows of " + std::to_string(reals));
        Part<double> part(name, rows, reals);
        part.encode(mixed<double>(rows, reals, 5));
        std::vector<double> x, y;
        ASSERT_EQ(part.decode(part.message, y), Outcome::good);
        for (Index r = 0; r < rows; ++r) {
          Row<double> row(row_kernels().back(), part.codec, reals);
          std::copy_n(part.room.begin() + r * part.rows.bytes, part.rows.bytes, row.bytes.begin());
          ASSERT_EQ(row.decode(0, reals, x), Outcome::good);
          EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin() + r * reals));
        }
        Part<float> floats(name, rows, reals);
        floats.encode(mixed<float>(rows, reals, 5));
        std::vector<float> z;
        EXPECT_EQ(floats.decode(floats.message, z), Outcome::good);
      }
}

TEST(ZfpAccuracy, NoticesDamage) {
  if (!zfp::missing().empty()) GTEST_SKIP() << zfp::missing();
  Part<double> part("zfp-accuracy:12", 4, 130);
  part.encode(mixed<double>(4, 130, 9));
  std::vector<double> x;
  ASSERT_EQ(part.decode(part.message, x), Outcome::good);
  for (std::size_t i = 0; i < part.message.size(); ++i) {
    std::vector<std::byte> changed = part.message;
    changed[i] ^= std::byte(1 << (i % 8));
    EXPECT_EQ(part.decode(changed, x), Outcome::damaged) << "a bit of byte " << i;
    changed = part.message;
    changed.resize(i);
    EXPECT_EQ(part.decode(changed, x), Outcome::damaged) << "only " << i << " bytes";
    changed = part.message;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(part.decode(changed, x), Outcome::damaged) << "without byte " << i;
  }
  std::vector<std::byte> longer = part.message;
  longer.push_back(std::byte{0});
  EXPECT_EQ(part.decode(longer, x), Outcome::damaged);
  for (const int pattern : {0x00, 0xA5, 0xFF})
    EXPECT_EQ(part.decode(std::vector<std::byte>(part.room.size(), std::byte(pattern)), x), Outcome::damaged);
}

TEST(Zfp, NamesAndErrors) {
  EXPECT_EQ(row_bytes(find_codec("zfp:16"), 128, 8), 8 + 256);
  EXPECT_EQ(row_bytes(find_codec("zfp:11"), 67, 8), 8 + 104);
  expect_error([] { find_codec("zfp"); }, "zfp:m with m from 8 to 56");
  expect_error([] { find_codec("zfp:0"); }, "zfp:m with m from 8 to 56");
  expect_error([] { find_codec("zfp:57"); }, "zfp:m with m from 8 to 56");
  expect_error([] { find_codec("zfp:-16"); }, "zfp:m with m from 8 to 56");
  expect_error([] { find_codec("zfp-accuracy"); }, "zfp-accuracy:m with m from 4 to 45");
  expect_error([] { find_codec("zfp-accuracy:1e-6"); }, "zfp-accuracy:m with m from 4 to 45");
  expect_error([] { find_codec("zfp-accuracy:3"); }, "zfp-accuracy:m with m from 4 to 45");
  expect_error([] { find_codec("zfp-accuracy:46"); }, "zfp-accuracy:m with m from 4 to 45");
  expect_error([] { check_codec(find_codec("zfp-accuracy:18"), 4); }, "numbers of 4 bytes");
  EXPECT_NO_THROW(check_codec(find_codec("zfp-accuracy:17"), 4));
  EXPECT_NO_THROW(check_codec(find_codec("zfp-accuracy:45"), 8));
  expect_error([] { check_codec(find_codec("zfp:29"), 4); }, "numbers of 4 bytes");
  EXPECT_NO_THROW(check_codec(find_codec("zfp:28"), 4));
}

}  // namespace weft::test
