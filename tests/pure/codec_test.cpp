// Codecs on rows: errors within their bounds, what survives and what is refused, any part of a row decoded by
// itself, damage noticed; on every instruction set that this processor has.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "geometry/grid.hpp"
#include "geometry/layout.hpp"
#include "kernels/cpu/coded_copy.hpp"
#include "kernels/cpu/rows.hpp"
#include "kernels/cpu/zfp.hpp"
#include "support/coded_row.hpp"
#include "support/expect_error.hpp"
#include "support/host_coding.hpp"

namespace weft::test {

namespace {

using codec::Outcome;

/// Those of zfp only where libzfp is.
std::vector<const char*> codec_names() {
  std::vector<const char*> all{"fp32",    "fp16",    "bf16",    "trim:0",  "trim:4",  "trim:5",
                               "trim:12", "trim:15", "trim:20", "trim:28", "trim:36", "trim:44"};
  if (zfp::missing().empty())
    all.insert(all.end(), {"zfp:8", "zfp:13", "zfp:16", "zfp:28", "zfp:43", "zfp:56", "zfp-accuracy:4",
                           "zfp-accuracy:17", "zfp-accuracy:20", "zfp-accuracy:45"});
  return all;
}
const std::vector<const char*> names = codec_names();

/// Every codec of a precision on every instruction set here.
template <class Real, class F>
void each_coder(const F& f) {
  for (const RowKernel& kernel : row_kernels()) {
    if (!kernel.runs_here()) continue;
    for (const char* name : names) {
      const Codec codec = find_codec(name);
      const int bits = codec.row->wire_bits(codec.bits, sizeof(Real));
      if (bits == 0 || bits == 8 * static_cast<int>(sizeof(Real))) continue;
      SCOPED_TRACE(std::string(kernel.name) + " " + name + (sizeof(Real) == 8 ? " double" : " float"));
      f(kernel, codec);
    }
  }
}

template <class Real>
void keeps_its_bound() {
  each_coder<Real>([](const RowKernel& kernel, const Codec& codec) {
    for (const Index n : {1, 2, 3, 63, 64, 65, 127, 128, 1000})
      for (const double scale :
           sizeof(Real) == 8 ? std::vector{1.0, 1e300, 1e-300, 1e-310} : std::vector{1.0, 1e37, 1e-36}) {
        const std::vector<Real> x = normal<Real>(n, static_cast<std::uint64_t>(n), scale);
        Row<Real> row(kernel, codec, n);
        std::vector<Real> y;
        ASSERT_EQ(row.encode(x), Outcome::good);
        ASSERT_EQ(row.decode(0, n, y), Outcome::good);
        // What is decoded may be denormal, with fewer bits than were kept.
        EXPECT_LE(error(x, y), relative_error(codec) + (scale == 1e-310 ? 1e-12 : 0))
            << n << " reals of size " << scale;
      }
  });
}

template <class Real>
bool same(Real a, Real b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

template <class Real>
void special_numbers_survive() {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  const std::vector<Real> specials{0,
                                   -Real(0),
                                   infinity,
                                   -infinity,
                                   std::numeric_limits<Real>::quiet_NaN(),
                                   std::numeric_limits<Real>::signaling_NaN()};
  each_coder<Real>([&](const RowKernel& kernel, const Codec& codec) {
    if (codec.row->by_library) return;
    for (const Real around : {Real(0), Real(1), Real(-3e4), std::numeric_limits<Real>::denorm_min()}) {
      std::vector<Real> x(80, around), y;
      for (std::size_t i = 0; i < specials.size(); ++i) x[7 * i + 3] = specials[i];
      Row<Real> row(kernel, codec, 80);
      ASSERT_EQ(row.encode(x), Outcome::good);
      ASSERT_EQ(row.decode(0, 80, y), Outcome::good);
      for (std::size_t i = 0; i < specials.size(); ++i)
        EXPECT_TRUE(same(x[7 * i + 3], y[7 * i + 3])) << x[7 * i + 3] << " became " << y[7 * i + 3];
      if (around != 0) {
        EXPECT_NEAR(static_cast<double>(y[0] / around), 1, relative_error(codec));
      }
    }
  });
}

template <class Real>
void largest_number_is_kept_or_refused() {
  each_coder<Real>([](const RowKernel& kernel, const Codec& codec) {
    std::vector<Real> x(64, 1), y;
    x[5] = -std::numeric_limits<Real>::max();
    Row<Real> row(kernel, codec, 64);
    // Zfp may hold it.
    if (const Outcome o = row.encode(x); o != Outcome::good || !codec.row->by_library) {
      EXPECT_EQ(o, Outcome::overflow);
    } else {
      EXPECT_EQ(row.decode(0, 64, y), Outcome::good);
      EXPECT_TRUE(std::isfinite(y[5]));
    }
    x[5] = std::numeric_limits<Real>::max() / 2;
    EXPECT_EQ(row.encode(x), Outcome::good);
    EXPECT_EQ(row.decode(0, 64, y), Outcome::good);
    EXPECT_TRUE(std::isfinite(y[5]));
  });
}

template <class Real>
void parts_of_rows() {
  each_coder<Real>([](const RowKernel& kernel, const Codec& codec) {
    for (const Index n : {1, 64, 65, 200}) {
      const std::vector<Real> x = normal<Real>(n, 17);
      Row<Real> row(kernel, codec, n);
      ASSERT_EQ(row.encode(x), Outcome::good);
      Row<Real> in_parts(kernel, codec, n);
      for (Index first = 0; first < n; first += 64)
        in_parts.coder.encode(reinterpret_cast<const std::byte*>(x.data() + first), first,
                              std::min<Index>(n, first + 64), n, in_parts.manner, in_parts.bytes.data());
      std::vector<Real> all, part, other;
      ASSERT_EQ(row.decode(0, n, all), Outcome::good);
      ASSERT_EQ(in_parts.decode(0, n, other), Outcome::good);
      EXPECT_EQ(all, other);
      for (Index first = 0; first < n; first += 7)
        for (const Index last : {first + 1, std::min(n, first + 13), n}) {
          ASSERT_EQ(row.decode(first, last, part), Outcome::good);
          ASSERT_EQ(std::memcmp(part.data(), all.data() + first, part.size() * sizeof(Real)), 0)
              << first << " to " << last << " of " << n;
        }
    }
  });
}

template <class Real>
void instruction_sets_agree() {
  each_coder<Real>([](const RowKernel& kernel, const Codec& codec) {
    std::vector<Real> x = normal<Real>(300, 3);
    for (std::size_t i = 0; i < 64; ++i) x[i] *= static_cast<Real>(std::ldexp(1.0, -static_cast<int>(i)));
    if (!codec.row->by_library) x[70] = std::numeric_limits<Real>::infinity();
    Row<Real> row(kernel, codec, 300), portable(row_kernels().back(), codec, 300);
    ASSERT_EQ(row.encode(x), Outcome::good);
    ASSERT_EQ(portable.encode(x), Outcome::good);
    EXPECT_EQ(row.bytes, portable.bytes);
    std::vector<Real> a, b;
    ASSERT_EQ(row.decode(0, 300, a), Outcome::good);
    ASSERT_EQ(portable.decode(0, 300, b), Outcome::good);
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)), 0);
  });
}

template <class Real>
void damage_is_noticed() {
  each_coder<Real>([](const RowKernel& kernel, const Codec& codec) {
    if (codec.row->varies) return;  // zfp_test.cpp
    const Index n = 130;
    Row<Real> row(kernel, codec, n);
    std::vector<Real> y;
    // Memory that nobody has written to.
    for (const int pattern : {0x00, 0xA5, 0xFF}) {
      std::fill(row.bytes.begin(), row.bytes.end(), std::byte(pattern));
      EXPECT_EQ(row.decode(0, n, y), Outcome::damaged) << pattern;
    }
    ASSERT_EQ(row.encode(normal<Real>(n, 5)), Outcome::good);
    const std::vector<std::byte> good = row.bytes;
    const Index payload = codec.row->by_library ? static_cast<Index>(row.bytes.size()) - codec::heads_bytes(n)
                                                : n * codec.row->wire_bits(codec.bits, sizeof(Real)) / 8;
    const auto used = [&](Index i) {
      return i < 12 || (i >= codec::heads_bytes(n) && i < codec::heads_bytes(n) + payload);
    };
    for (Index i = 0; i < static_cast<Index>(row.bytes.size()); ++i) {
      if (!used(i)) continue;
      row.bytes = good;
      row.bytes[static_cast<std::size_t>(i)] ^= std::byte(1 << (i % 8));
      EXPECT_EQ(row.decode(0, n, y), Outcome::damaged) << "a bit of byte " << i;
    }
    // A message that ends early leaves what was there before.
    row.bytes = good;
    std::fill(row.bytes.end() - 24, row.bytes.end(), std::byte{0x3C});
    EXPECT_EQ(row.decode(0, n, y), Outcome::damaged);
  });
}

}  // namespace

TEST(Codecs, KeepTheirBounds) {
  keeps_its_bound<double>();
  keeps_its_bound<float>();
}

TEST(Codecs, InfinitiesNanAndSignsOfZerosSurvive) {
  special_numbers_survive<double>();
  special_numbers_survive<float>();
}

TEST(Codecs, WhatWouldBecomeInfiniteIsRefused) {
  largest_number_is_kept_or_refused<double>();
}

TEST(Codecs, PartsOfRowsAreDecodedByThemselves) {
  parts_of_rows<double>();
  parts_of_rows<float>();
}

TEST(Codecs, AllInstructionSetsGiveTheSame) {
  instruction_sets_agree<double>();
  instruction_sets_agree<float>();
}

TEST(Codecs, NoticeDamage) {
  damage_is_noticed<double>();
  damage_is_noticed<float>();
}

TEST(Codecs, NoticeEveryChangeOfAByte) {
  std::mt19937 random(6);
  for (int trial = 0; trial < 300; ++trial) {
    const std::uint32_t sum = trial == 0   ? 0
                              : trial == 1 ? 0xFFFFFFFFU
                                           : static_cast<std::uint32_t>(random());
    const int shift = static_cast<std::int16_t>(random());
    const std::uint16_t check = codec::head_of(shift, sum).check;
    for (std::uint32_t change = 1; change < 256; ++change)
      for (const int byte : {0, 8, 16, 24}) {
        EXPECT_NE(check, codec::head_of(shift, sum + (change << byte)).check) << sum << " and " << change;
        EXPECT_NE(check, codec::head_of(shift, sum - (change << byte)).check) << sum << " less " << change;
        if (byte < 16) {
          EXPECT_NE(check, codec::head_of(shift + static_cast<int>(change << byte), sum).check) << shift;
        }
      }
  }
}

TEST(Codecs, IntegersPassUnchangedWhereTheyFit) {
  for (const RowKernel& kernel : row_kernels()) {
    if (!kernel.runs_here()) continue;
    const auto passes = [&](const char* name, int most) {
      std::vector<double> x(200), y;
      std::mt19937 engine(9);
      for (double& v : x) v = static_cast<int>(engine() % static_cast<unsigned>(2 * most + 1)) - most;
      Row<double> row(kernel, find_codec(name), 200);
      EXPECT_EQ(row.encode(x), Outcome::good);
      EXPECT_EQ(row.decode(0, 200, y), Outcome::good);
      return x == y;
    };
    EXPECT_TRUE(passes("fp32", 1 << 24));
    EXPECT_TRUE(passes("fp16", 1 << 11));
    EXPECT_TRUE(passes("bf16", 1 << 8));
    EXPECT_TRUE(passes("trim:20", 1 << 21));
    EXPECT_FALSE(passes("fp32", 1 << 26));
    EXPECT_FALSE(passes("fp16", 1 << 13));
  }
}

TEST(Codecs, TrimRoundsToNearestTiesToEven) {
  const Codec codec = find_codec("trim:4");
  std::vector<double> x{1 + 1.0 / 32, 1 + 3.0 / 32, 1 + 1.0 / 32 + 1e-15, -1 - 1.0 / 32, 2 - 1e-9}, y;
  Row<double> row(row_kernels().back(), codec, 5);
  ASSERT_EQ(row.encode(x), Outcome::good);
  ASSERT_EQ(row.decode(0, 5, y), Outcome::good);
  EXPECT_EQ(y, (std::vector<double>{1, 1.125, 1.0625, -1, 2}));
}

TEST(Codecs, NamesAndErrors) {
  EXPECT_EQ(to_string(find_codec("none")), "none");
  EXPECT_EQ(to_string(find_codec("trim:20")), "trim:20");
  EXPECT_EQ(row_bytes(find_codec("fp16"), 128, 8), 8 + 256);
  EXPECT_EQ(row_bytes(find_codec("trim:20"), 3, 8), 8 + 16);
  expect_error([] { find_codec("fp23"); }, "nearest is fp32");
  expect_error([] { find_codec("trim:60"); }, "0 to 51");
  expect_error([] { find_codec("trim"); }, "trim:m");
  expect_error([] { find_codec("trim:"); }, "trim:m");
  expect_error([] { find_codec("trim:4x"); }, "trim:m");
  expect_error([] { find_codec("fp16:3"); }, "fp16 alone");
  expect_error([] { check_codec(find_codec("fp32"), 4); }, "numbers of 4 bytes");
  expect_error([] { check_codec(find_codec("trim:24"), 4); }, "numbers of 4 bytes");
  EXPECT_NO_THROW(check_codec(find_codec("trim:22"), 4));
  EXPECT_NO_THROW(check_codec(find_codec("trim:51"), 8));
}

/// Boxes of random extents and memory orders, encoded and decoded as a whole, by threads, and piece by piece.
TEST(CodedCopies, AnyOrderAnyPart) {
  std::mt19937 random(4);
  for (int trial = 0; trial < 300; ++trial) {
    const int ndim = 1 + static_cast<int>(random() % 4), reals = 1 + static_cast<int>(random() % 2);
    const int real_bytes = random() % 3 == 0 ? 4 : 8;
    CodedRequest r;
    r.codec = find_codec(real_bytes == 8 ? names[random() % names.size()] : "fp16");
    r.encodes = true;
    r.real_bytes = real_bytes;
    r.element_bytes = reals * real_bytes;
    const auto zfp = r.codec.row->by_library ? std::make_shared<ZfpStreams>(3) : nullptr;
    r.extents = Shape(ndim, 1);
    for (int a = 0; a < ndim; ++a) r.extents[a] = 1 + static_cast<Index>(random() % (ndim > 2 ? 12 : 90));
    Order order = c_order(ndim), rows_order = c_order(ndim);
    std::shuffle(order.begin(), order.end(), random);
    std::shuffle(rows_order.begin(), rows_order.end(), random);
    r.box_strides = dense_strides(r.extents, order);
    r.axis = static_cast<int>(random() % static_cast<unsigned>(ndim));
    r.points = r.extents[r.axis];
    r.row_strides = Strides(ndim, 0);
    Index next = row_bytes(r.codec, r.points * reals, real_bytes);
    for (int i = ndim - 1; i >= 0; --i)
      if (const int a = rows_order[i]; a != r.axis) {
        r.row_strides[a] = next;
        next *= r.extents[a];
      }
    const Index count = Box::whole(r.extents).count();
    std::vector<std::byte> box(static_cast<std::size_t>(count * r.element_bytes)), back(box), parts(box);
    for (Index i = 0; i < count * reals; ++i) {
      const double v = static_cast<double>(random()) / 4e9 - 0.5;
      const auto f = static_cast<float>(v);
      std::memcpy(box.data() + i * real_bytes, real_bytes == 8 ? static_cast<const void*>(&v) : &f,
                  static_cast<std::size_t>(real_bytes));
    }
    std::vector<std::byte> rows(static_cast<std::size_t>(next), std::byte{0x11}), sliced(rows);
    const CodedCopy encode(r, zfp);
    ASSERT_EQ(encode.run(box.data(), rows.data()), Outcome::good);
    for (int part = 0; part < 3; ++part)
      ASSERT_EQ(encode.run_part(box.data(), sliced.data(), part, 3), Outcome::good);
    ASSERT_EQ(rows, sliced);
    // What devices do, thread by thread.
    std::uint32_t fault = 0;
    std::vector<std::byte> by_device(box.size());
    if (!zfp) {
      std::fill(sliced.begin(), sliced.end(), std::byte{0x11});
      run_coding({r, {&fault, 8}}, sliced.data(), box.data());
      ASSERT_EQ(rows, sliced);
    }
    r.encodes = false;
    ASSERT_EQ(CodedCopy(r, zfp).run(rows.data(), back.data()), Outcome::good);
    for (Index i = 0; i < count * reals; ++i) {
      double a = 0, b = 0;
      float c = 0, d = 0;
      if (real_bytes == 8) {
        std::memcpy(&a, box.data() + i * 8, 8);
        std::memcpy(&b, back.data() + i * 8, 8);
      } else {
        std::memcpy(&c, box.data() + i * 4, 4);
        std::memcpy(&d, back.data() + i * 4, 4);
        a = c;
        b = d;
      }
      ASSERT_NEAR(a, b, relative_error(r.codec)) << trial;
    }
    // Two pieces of every row, each decoded to its place.
    const Index cut = static_cast<Index>(random() % static_cast<unsigned>(r.points + 1));
    for (const Range piece : {Range{0, cut}, Range{cut, r.points}}) {
      if (piece.lo == piece.hi) continue;
      CodedRequest some = r;
      some.extents[r.axis] = piece.hi - piece.lo;
      some.first = piece.lo;
      ASSERT_EQ(CodedCopy(some, zfp).run(rows.data(),
                                         parts.data() + piece.lo * r.box_strides[r.axis] * r.element_bytes),
                Outcome::good);
      if (!zfp)
        run_coding({some, {&fault, 8}}, by_device.data() + piece.lo * r.box_strides[r.axis] * r.element_bytes,
                   rows.data());
    }
    ASSERT_EQ(parts, back);
    if (!zfp) {
      ASSERT_EQ(by_device, back);
    }
    ASSERT_EQ(fault, 0U);
  }
}

/// Numbers of all kinds: devices write the bytes that the host writes, read them alike, and tell of the same
/// failures.
template <class Real>
void devices_code_as_the_host_does() {
  using I = codec::Ieee<Real>;
  std::mt19937_64 random(12);
  int overflows = 0, damages = 0;
  each_coder<Real>([&](const RowKernel&, const Codec& codec) {
    if (codec.row->by_library) return;
    for (int trial = 0; trial < 20; ++trial) {
      const Index n = 1 + static_cast<Index>(random() % 200);
      // Of every fourth row, the largest numbers there are, which rounding can make infinite.
      const auto size =
          static_cast<typename I::Bits>(trial % 4 == 1 ? I::exponents - 3 : random() % I::exponents);
      std::vector<Real> x(static_cast<std::size_t>(n)), y(x), z(x);
      for (Real& v : x) {
        const auto near =
            std::min<typename I::Bits>(static_cast<typename I::Bits>(size + random() % 3), I::exponents);
        const typename I::Bits any = static_cast<typename I::Bits>(random());
        v = codec::same_bits<Real>(static_cast<typename I::Bits>((any & ~I::infinity) | near << I::mantissa));
        if (random() % 40 == 0) v = random() % 2 == 0 ? Real(0) : std::numeric_limits<Real>::infinity();
      }
      CodedRequest r{codec, true, sizeof(Real), sizeof(Real), Shape{n}, Strides{1}, Strides{0}, 0, n, 0, 1};
      std::vector<std::byte> host(static_cast<std::size_t>(row_bytes(codec, n, sizeof(Real)))), device(host);
      std::uint32_t fault = 0;
      const Outcome written = CodedCopy(r).run(reinterpret_cast<const std::byte*>(x.data()), host.data());
      run_coding({r, {&fault, 8}}, device.data(), reinterpret_cast<const std::byte*>(x.data()));
      ASSERT_EQ(fault, written == Outcome::good ? 0 : 8 + static_cast<std::uint32_t>(written));
      ASSERT_EQ(host, device) << to_string(codec);
      overflows += written == Outcome::overflow;
      r.encodes = false;
      if (trial % 4 == 0) host[random() % host.size()] ^= std::byte{1};
      fault = 0;
      const Outcome read = CodedCopy(r).run(host.data(), reinterpret_cast<std::byte*>(y.data()));
      run_coding({r, {&fault, 8}}, reinterpret_cast<std::byte*>(z.data()), host.data());
      ASSERT_EQ(fault, read == Outcome::good ? 0 : 8 + static_cast<std::uint32_t>(read));
      damages += read == Outcome::damaged;
      if (read == Outcome::good) {
        ASSERT_EQ(std::memcmp(y.data(), z.data(), y.size() * sizeof(Real)), 0) << to_string(codec);
      }
    }
  });
  EXPECT_GT(overflows, 0);
  EXPECT_GT(damages, 0);
}

TEST(CodedCopies, DevicesCodeAsTheHostDoes) {
  devices_code_as_the_host_does<double>();
  devices_code_as_the_host_does<float>();
}

}  // namespace weft::test
