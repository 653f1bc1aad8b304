// Plans whose FFTs store what stays on a rank, and what its peers get, where it is read next.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/design_of.hpp"
#include "support/device_mirror.hpp"
#include "support/device_problem.hpp"
#include "support/devices.hpp"
#include "support/rank_counts.hpp"
#include "support/says.hpp"
#include "transport/nccl/library.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

/// The test double always lets FFTs store where they can. A GPU does what is faster there.
bool always_where_it_can() {
  return device_row()->name == std::string("double");
}

}  // namespace

TEST(DeviceDiversions, WhatStaysOnARankIsStoredByTheFftWhereItIsReadNext) {
  const ScopedDevices devices;
  if (ScopedDevices::count() < 2) GTEST_SKIP() << "needs two devices";
  ThreadTeam(2).run([&](const Comm& comm) {
    ScopedDevices::choose(comm.rank());
    Problem p = on_device();
    p.shape = {30, 36, 50};
    for (const char* pipeline : {"sequential", "planes", "two-front"}) {
      Options options = Options().set("pipeline", pipeline).set("exchange", "direct");
      const bool whole = pipeline == std::string("sequential");
      if (!whole) options.set("tile", 5);
      const Plan plan(comm, p, options);
      if (always_where_it_can()) {
        EXPECT_TRUE(
            says(plan.to_string(), whole ? "by kernels of Weft, which store all before both exchanges where"
                                         : "by kernels of Weft, which store what stays on the rank where"))
            << plan.to_string();
      }
    }
  });
}

TEST(DeviceDiversions, LinesInTwoPassesStoreElsewhereAsWell) {
  const ScopedDevices devices;
  if (ScopedDevices::count() < 2) GTEST_SKIP() << "needs two devices";
  ThreadTeam(2).run([&](const Comm& comm) {
    ScopedDevices::choose(comm.rank());
    Problem p = on_device();
    p.shape = {16, 32, 20};
    p.output = Distribution::slab(1);
    Problem of_host = p;
    of_host.memory = MemoryKind::host;
    for (const char* pipeline : {"sequential", "two-front"}) {
      Plan plan(comm, p, Options().set("pipeline", pipeline).set("exchange", "direct")), host(comm, of_host);
      if (always_where_it_can()) {
        EXPECT_TRUE(says(plan.to_string(), "lines of 16, 32 by kernels of Weft, which store"))
            << plan.to_string();
      }
      std::mt19937 random(static_cast<unsigned>(comm.rank()));
      std::uniform_real_distribution<double> any(-1, 1);
      std::vector<std::complex<double>> in(plan.input_count()), out(plan.output_count()),
          expected(out.size());
      for (std::complex<double>& v : in) v = {any(random), any(random)};
      host.forward(in.data(), expected.data());
      DeviceMirror mirror;
      plan.set_stream(static_cast<CUstream_st*>(mirror.stream().native()));
      const std::size_t bytes = out.size() * sizeof out[0];
      const void* const from = mirror.upload(in.data(), in.size() * sizeof in[0]);
      std::byte* const to = mirror.fresh(bytes);
      plan.forward(from, static_cast<void*>(to));
      mirror.download(out.data(), to, bytes);
      double worst = 0;
      for (std::size_t i = 0; i < out.size(); ++i) worst = std::max(worst, std::abs(out[i] - expected[i]));
      EXPECT_LE(worst, 1e-12) << pipeline;
      comm.barrier();
    }
  });
}

TEST(DeviceDiversions, AxesThatLookAlikeWhereTheyAreStored) {
  const ScopedDevices devices;
  if (ScopedDevices::count() < 2) GTEST_SKIP() << "needs two devices";
  ThreadTeam(2).run([&](const Comm& comm) {
    ScopedDevices::choose(comm.rank());
    Problem p = on_device();
    // A rank keeps one mode along axis 1, so that axes 1 and 2 have one stride where that is stored.
    p.shape = {64, 2, 2};
    p.output = Distribution::slab(1).with_order({0, 2, 1});
    const Plan plan(comm, p, Options().set("pipeline", "sequential").set("exchange", "direct"));
    EXPECT_TRUE(says(plan.to_string(), "64x2x2"));
  });
}

namespace {

template <class Real>
class Arrays {
 public:
  using Complex = std::complex<Real>;

  Arrays(const Comm& comm, const Problem& problem, const Options& options) : plan(comm, problem, options) {
    std::uint32_t random = 1 + static_cast<std::uint32_t>(comm.rank());
    const auto any = [&] {  // quickly, as there are many
      random = random * 1664525 + 1013904223;
      return static_cast<Real>(static_cast<std::int32_t>(random)) / static_cast<Real>(1U << 31);
    };
    values_.resize(plan.buffer_bytes() / sizeof(Complex));
    for (Complex& v : values_) v = {any(), any()};
    in_ = mirror_.upload(values_.data(), plan.buffer_bytes());
    out_ = problem.in_place ? in_ : mirror_.fresh(plan.buffer_bytes());
  }

  std::vector<Complex> forward() {
    plan.forward(static_cast<const void*>(in_), static_cast<void*>(out_));
    return downloaded(out_, plan.output_count());
  }
  std::vector<Complex> backward() {
    plan.backward(static_cast<const void*>(out_), static_cast<void*>(in_));
    return downloaded(in_, plan.input_count());
  }
  std::vector<Complex> first() const {
    return {values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(plan.input_count())};
  }

  Plan plan;

 private:
  std::vector<Complex> downloaded(std::byte* at, std::size_t count) {
    plan.wait();
    std::vector<Complex> all(count);
    mirror_.download(all.data(), at, count * sizeof(Complex));
    return all;
  }

  DeviceMirror mirror_;
  std::vector<Complex> values_;
  std::byte *in_ = nullptr, *out_ = nullptr;
};

template <class Complex>
double difference(const std::vector<Complex>& a, const std::vector<Complex>& b) {
  double most = a.size() == b.size() ? 0 : HUGE_VAL;
  for (std::size_t i = 0; i < a.size() && most < HUGE_VAL; ++i) {
    const double now = std::norm(a[i] - b[i]);
    if (!(now <= most)) most = now < HUGE_VAL ? now : HUGE_VAL;  // the latter if it is no number
  }
  return std::sqrt(most);
}

/// Both plans one after the other. Either direction may follow itself.
template <class Real>
void expect_alike(Arrays<Real>& a, Arrays<Real>& b, bool in_place) {
  const std::string text = a.plan.to_string();
  const double bound = sizeof(Real) == 8 ? 1e-11 : 1e-2;
  for (int i = 0; i < 6; ++i) {
    ASSERT_LT(difference(a.forward(), b.forward()), bound) << text;
    if (i % 3 == 1 && !in_place) {
      ASSERT_LT(difference(a.forward(), b.forward()), bound) << text;
    }
    ASSERT_LT(difference(a.backward(), b.backward()), bound) << text;
    ASSERT_LT(difference(a.backward(), b.backward()), bound) << text;
  }
}

/// Beside a plan whose puts are copies. `exchanges`: before which FFTs put.
template <class Real>
void check_puts_of_ffts(const Comm& comm, Problem p, const Options& options,
                        const std::string& exchanges = "the first exchange") {
  p.precision = sizeof(Real) == 8 ? Precision::float64 : Precision::float32;
  p.backward_scale = Scale::full;
  Arrays<Real> stored(comm, p, options), copied(comm, p, Options(options).set("puts", "engine"));
  const std::string text = stored.plan.to_string();
  EXPECT_FALSE(says(copied.plan.to_string(), "also on peers"));
  if (always_where_it_can()) {
    EXPECT_TRUE(says(text, "by kernels of Weft, which store all before " + exchanges +
                               " where it is read next, also on peers"))
        << text;
  }
  expect_alike(stored, copied, p.in_place);
}

/// Beside a plan that packs nothing.
template <class Real>
void check_packing_by_ffts(const Comm& comm, Problem p, const Options& options, bool and_keep) {
  p.precision = sizeof(Real) == 8 ? Precision::float64 : Precision::float32;
  p.backward_scale = Scale::full;
  Arrays<Real> packed(comm, p, options),
      put(comm, p, Options().set("exchange", "direct").set("puts", "engine"));
  const std::string text = packed.plan.to_string();
  if (always_where_it_can()) {
    EXPECT_TRUE(says(text, "by kernels of Weft, which pack what is sent")) << text;
    EXPECT_EQ(says(text, "pack what is sent and store what stays on the rank"), and_keep) << text;
  }
  expect_alike(packed, put, p.in_place);
}

}  // namespace

TEST(DeviceDiversions, FftsStoreInTheWorkspacesOfPeers) {
  const ScopedDevices devices({.delays = true});
  for (const int ranks : rank_counts(2, 4, ScopedDevices::count()))
    ThreadTeam(ranks).run([&](const Comm& comm) {
      ScopedDevices::choose(comm.rank());
      for (const bool in_place : {false, true})
        for (const char* graph : {"on", "off"}) {
          Problem p = on_device();
          p.shape = {12, 24, 10};
          p.in_place = in_place;
          p.output = Distribution::slab(1);
          const Options options = Options().set("pipeline", "sequential").set("graph", graph);
          check_puts_of_ffts<double>(comm, p, options);
          p.batch = 2;
          check_puts_of_ffts<float>(comm, p, options);
          p.output = p.output.with_order({1, 0, 2});  // rows remain rows
          check_puts_of_ffts<double>(comm, p, options);
        }
    });
}

/// From slabs to the same slabs there are two exchanges. Those along the last axis are put row by row. Half
/// of the ways are graphs, with the next number of ranks the other half.
TEST(DeviceDiversions, FftsPutInBothExchanges) {
  const ScopedDevices devices({.delays = true});
  for (const int ranks : rank_counts(2, 4, ScopedDevices::count()))
    ThreadTeam(ranks).run([&](const Comm& comm) {
      ScopedDevices::choose(comm.rank());
      for (const int axis : {0, 2})
        for (const bool in_place : {false, true}) {
          Problem p = on_device();
          p.shape = {24, 24, 36};
          p.in_place = in_place;
          p.input = p.output = Distribution::slab(axis);
          const Options options =
              Options().set("graph", (ranks + axis / 2 + in_place) % 2 == 0 ? "on" : "off");
          check_puts_of_ffts<double>(comm, p, options, "both exchanges");
          p.batch = 2;
          check_puts_of_ffts<float>(comm, p, options, "both exchanges");
          p.batch = 1;
          if (axis == 0) {  // there and back in another order
            p.output = p.output.with_order({1, 0, 2});
            check_puts_of_ffts<double>(comm, p, options, "both exchanges");
          }
          // An odd number of rows.
          p.shape = {48, 25, 36};
          if (axis == 2) check_puts_of_ffts<float>(comm, p, options, "both exchanges");
        }
    });
}

/// Long lines land in cells, and rows of an odd number of modes with gaps between them, in either of two
/// workspaces.
TEST(DeviceDiversions, LargeBoxesLandWherePutsAreFast) {
  const ScopedDevices devices({.room = std::size_t{3} << 30});
  if (ScopedDevices::count() < 2) GTEST_SKIP() << "needs two devices";
  ThreadTeam(2).run([&](const Comm& comm) {
    ScopedDevices::choose(comm.rank());
    const auto check = [&]<class Real>(Real, const Shape& shape, Transform fastest) {
      Problem p = on_device();
      p.precision = sizeof(Real) == 8 ? Precision::float64 : Precision::float32;
      p.shape = shape;
      p.transforms = {Transform::c2c, Transform::c2c, fastest};
      p.output = Distribution::slab(1);
      p.backward_scale = Scale::full;
      Arrays<Real> stored(comm, p, Options()), copied(comm, p, Options().set("puts", "engine"));
      const bool complex = fastest == Transform::c2c;
      const double bound = sizeof(Real) == 8 ? 1e-8 : 1;  // of sums of all points
      const auto expected = copied.forward();
      for (int i = 0; i < 2; ++i) ASSERT_LT(difference(stored.forward(), expected), bound);
      if (complex) {
        ASSERT_LT(difference(stored.backward(), stored.first()), sizeof(Real) == 8 ? 1e-13 : 1e-4);
      }
      if (!always_where_it_can()) return;
      EXPECT_TRUE(says(stored.plan.to_string(), "two axes in one launch")) << stored.plan.to_string();
      for (const Direction direction : {Direction::forward, Direction::backward})
        EXPECT_EQ(says(stored.plan.program_to_string(direction), "in cells of 2"), complex);
    };
    check(double{}, {900, 900, 24}, Transform::c2c);
    check(double{}, {48, 540, 540}, Transform::r2c);
    if (!ScopedDevices::are_on_host()) check(float{}, {900, 900, 48}, Transform::c2c);  // which takes long
  });
}

TEST(DeviceDiversions, FftsPackWhatIsSent) {
  const ScopedDevices devices({.delays = true});
  for (const int ranks : rank_counts(2, 4, ScopedDevices::count()))
    ThreadTeam(ranks).run([&](const Comm& comm) {
      ScopedDevices::choose(comm.rank());
      std::vector<std::string> exchanges{"copy"};
      if (nccl::missing().empty()) exchanges.emplace_back("nccl");
      for (const std::string& exchange : exchanges)
        for (const char* pipeline : {"sequential", "planes"})
          for (const bool in_place : {false, true}) {
            Problem p = on_device();
            p.shape = {12, 36, 10};
            p.in_place = in_place;
            p.output = Distribution::slab(1);
            Options options = Options().set("exchange", exchange).set("pipeline", pipeline);
            const bool whole = pipeline == std::string("sequential");
            if (!whole) options.set("tile", 2);
            // A whole box that arrives in the user's array has what stays among its messages.
            check_packing_by_ffts<double>(comm, p, options, !(whole && in_place));
            check_packing_by_ffts<float>(comm, p, options, !(whole && in_place));
          }
    });
}

/// Parts of several extents have several strides, and are copied.
TEST(DeviceDiversions, PartsThatDifferAreCopied) {
  const ScopedDevices devices;
  if (ScopedDevices::count() < 2) GTEST_SKIP() << "needs two devices";
  ThreadTeam(2).run([&](const Comm& comm) {
    ScopedDevices::choose(comm.rank());
    Problem p = on_device();
    p.shape = {13, 25, 10};
    p.output = Distribution::slab(1);
    const Plan plan(comm, p, Options().set("pipeline", "sequential"));
    EXPECT_FALSE(says(plan.to_string(), "also on peers")) << plan.to_string();
  });
}

}  // namespace weft::test
