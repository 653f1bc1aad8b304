// Arrays with halos, padding and strides are transformed where they lie: the first operation reads the user's
// memory, the last one writes it, and nothing is copied in between that a dense array would not copy.
#include <gtest/gtest.h>

#include <cstring>
#include <mutex>
#include <string>

#include "base/test_hook.hpp"
#include "base/thread_pool.hpp"
#include "support/design_of.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;

/// What one rank's execution touched.
struct Touched {
  std::size_t copied = 0;  ///< bytes by operations that only copy within the rank
  std::vector<std::pair<const std::byte*, const std::byte*>> ffts;
};

template <class Run>
Touched touched_by(const Run& run) {
  Touched t;
  TestHook hook;
  hook.on_access = [&](const char* kind, const std::byte* from, const std::byte* to, std::size_t bytes) {
    if (std::strcmp(kind, "copy") == 0) t.copied += bytes;
    if (std::strcmp(kind, "fft") == 0) t.ffts.emplace_back(from, to);
  };
  const ScopedTestHook installed(hook);
  run();
  return t;
}

Problem with_halo() {
  Problem p;
  p.shape = {12, 10, 8};
  p.input = Distribution::slab(0).with_halo({2, 1, 1}, {1, 1, 3});
  p.output = Distribution::slab(0).with_halo({0, 2, 0}, {1, 0, 5});
  return p;
}

const std::byte* at(const void* base, Index elements, std::size_t size) {
  return static_cast<const std::byte*>(base) + static_cast<std::size_t>(elements) * size;
}

}  // namespace

TEST(Layouts, AHaloOnOneRankIsOneFftFromInteriorToInterior) {
  Plan plan(Comm::self(), with_halo());
  EXPECT_EQ(plan.input_count(), 15u * 12u * 12u);
  EXPECT_EQ(plan.input_strides(), (Strides{144, 12, 1}));
  EXPECT_EQ(plan.input_offset(), 2 * 144 + 12 + 1);
  EXPECT_EQ(plan.workspace_bytes(), 0u);
  Buffer<Complex> in(plan.input_count()), out(plan.output_count());
  const Touched t = touched_by([&] { plan.forward(in.data(), out.data()); });
  EXPECT_EQ(t.copied, 0u);
  ASSERT_EQ(t.ffts.size(), 1u);
  EXPECT_EQ(t.ffts[0].first, at(in.data(), plan.input_offset(), sizeof(Complex)));
  EXPECT_EQ(t.ffts[0].second, at(out.data(), plan.output_offset(), sizeof(Complex)));
}

TEST(Layouts, HalosOnManyRanksAreReadAndWrittenWhereTheyLie) {
  ThreadTeam team(3);
  std::mutex mutex;
  for (const char* exchange : {"direct", "copy"})
    for (const char* pipeline : {"sequential", "windowed"}) {
      std::vector<std::pair<const std::byte*, const std::byte*>> inputs, outputs;
      std::size_t copied = 0;
      std::vector<const std::byte*> from, to;
      TestHook hook;
      hook.on_access = [&](const char* kind, const std::byte* f, const std::byte* g, std::size_t bytes) {
        const std::lock_guard lock(mutex);
        if (std::strcmp(kind, "copy") == 0) copied += bytes;
        from.push_back(f);
        to.push_back(g);
      };
      const ScopedTestHook installed(hook);
      team.run([&](const Comm& comm) {
        Plan plan(comm, with_halo(), Options().set("exchange", exchange).set("pipeline", pipeline));
        Buffer<Complex> in(plan.input_count()), out(plan.output_count());
        plan.forward(in.data(), out.data());
        const std::byte* first = at(in.data(), plan.input_offset(), sizeof(Complex));
        const std::byte* last = at(out.data(), plan.output_offset(), sizeof(Complex));
        comm.barrier();
        const std::lock_guard lock(mutex);
        EXPECT_NE(std::find(from.begin(), from.end(), first), from.end());
        EXPECT_NE(std::find(to.begin(), to.end(), last), to.end());
      });
      // Natural output ends with a reshape: buffered exchanges unpack into the user's array, direct ones copy
      // from the workspace that peers have put into, which is what a dense array costs too.
      EXPECT_EQ(copied, std::string(exchange) == "direct" ? 12u * 10u * 8u * sizeof(Complex) : 0u);
    }
}

TEST(Layouts, PaddedR2cIsTransformedInPlaceWithoutWorkspace) {
  for (const Index n : {Index{8}, Index{9}}) {
    Problem p;
    p.shape = {6, 5, n};
    p.transforms = {Transform::c2c, Transform::dct2, Transform::r2c};
    p.input = Distribution::slab(0).with_r2c_padding();
    p.in_place = true;
    p.batch = 3;
    Plan plan(Comm::self(), p);
    EXPECT_EQ(plan.workspace_bytes(), 0u);
    EXPECT_EQ(plan.input_count(), static_cast<std::size_t>(3 * 6 * 5 * 2 * (n / 2 + 1)));
    EXPECT_EQ(plan.buffer_bytes(), plan.output_count() * sizeof(Complex));
    Buffer<Complex> data(plan.output_count());
    auto* real = reinterpret_cast<double*>(data.data());
    for (Index i = 0; i < 3 * 30; ++i)
      for (Index j = 0; j < n; ++j) real[i * 2 * (n / 2 + 1) + j] = static_cast<double>((7 * i + 3 * j) % 11);
    const Touched t = touched_by([&] {
      plan.forward(real, data.data());
      plan.backward(data.data(), real);
    });
    EXPECT_EQ(t.copied, 0u);
    for (const auto& [from, to] : t.ffts) EXPECT_EQ(from, to);
    for (Index i = 0; i < 3 * 30; ++i)
      for (Index j = 0; j < n; ++j)
        EXPECT_NEAR(real[i * 2 * (n / 2 + 1) + j] / plan.scale_factor(),
                    static_cast<double>((7 * i + 3 * j) % 11), 1e-13);
  }
}

TEST(Layouts, InterleavedBatchesAreStridesLikeAnyOther) {
  // Three fields, interleaved point by point, as vectors of three components are.
  Problem p;
  p.shape = {4, 6};
  p.batch = 3;
  p.input = Distribution::slab(0).with_strides({18, 3});
  p.output = Distribution::slab(0).with_strides({18, 3});
  p.input_distance = p.output_distance = 1;
  p.in_place = true;
  Plan plan(Comm::self(), p);
  EXPECT_EQ(plan.input_count(), 72u);
  Buffer<Complex> v(72);
  for (int c = 0; c < 3; ++c) v[static_cast<std::size_t>(c)] = c + 1.0;  // impulses of three heights
  plan.forward(v.data(), v.data());
  for (std::size_t i = 0; i < 72; ++i)
    EXPECT_NEAR(std::abs(v[i] - (static_cast<double>(i % 3) + 1.0)), 0, 1e-14);
  EXPECT_EQ(plan.input_strides(), (Strides{18, 3}));
  EXPECT_EQ(plan.input_distance(), 1);
}

TEST(Layouts, MoreThreadsThanTheMachineHasAreWarnedAbout) {
  Problem p;
  p.shape = {8, 8};
  const Plan plan(Comm::self(), p, Options().set("threads", hardware_threads() + 1));
  EXPECT_FALSE(design_of(plan).threads.reason.empty());
  const Plan within(Comm::self(), p, Options().set("threads", hardware_threads()));
  EXPECT_TRUE(design_of(within).threads.reason.empty());
}

}  // namespace weft::test
