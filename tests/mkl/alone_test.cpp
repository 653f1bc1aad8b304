// A build whose only local FFT is Intel MKL: it computes c2c and r2c on thread ranks, right, and says what it
// cannot do. Without MKL the tests are skipped, unless WEFT_TEST_MKL=required.
#include <gtest/gtest.h>

#include "base/environment.hpp"
#include "fft/local_fft.hpp"
#include "support/expect_error.hpp"
#include "support/reference.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;

class MklAlone : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_STREQ(fft_table()[0].name, "mkl");
    for (const FftRow& row : fft_table().subspan(1)) ASSERT_EQ(row.memory, MemoryKind::cuda) << row.name;
    const std::string missing = fft_table()[0].missing();
    if (missing.empty()) return;
    ASSERT_NE(environment_value("WEFT_TEST_MKL"), "required") << missing;
    GTEST_SKIP() << missing;
  }
};

double value(Index i, Index j, Index k) {
  return static_cast<double>((i * 31 + j * 17 + k * 7) % 23) - 11;
}

/// Forward and backward of an array whose values are known everywhere.
template <class In>
void check(const Comm& comm, const AxisVector<Transform>& transforms) {
  Problem p;
  p.shape = {10, 9, 14};
  p.transforms = transforms;
  p.output = Distribution::slab(1);
  p.backward_scale = Scale::full;
  Plan plan(comm, p);
  std::vector<Exact> values;
  for (Index i = 0; i < 10; ++i)
    for (Index j = 0; j < 9; ++j)
      for (Index k = 0; k < 14; ++k) values.emplace_back(value(i, j, k), 0);
  const std::vector<Exact> exact = direct_sum(p.shape, transforms, values);
  Buffer<In> in(plan.input_count()), back(plan.input_count());
  Buffer<Complex> out(plan.output_count());
  const Box b = plan.input_box(), o = plan.output_box();
  std::size_t at = 0;
  for (Index i = b.lo[0]; i < b.hi[0]; ++i)
    for (Index j = b.lo[1]; j < b.hi[1]; ++j)
      for (Index k = b.lo[2]; k < b.hi[2]; ++k) in[at++] = value(i, j, k);
  plan.forward(in.data(), out.data());
  at = 0;
  const Index half = transforms.contains(Transform::r2c) ? 8 : 14;
  for (Index i = o.lo[0]; i < o.hi[0]; ++i)
    for (Index j = o.lo[1]; j < o.hi[1]; ++j)
      for (Index k = o.lo[2]; k < o.hi[2]; ++k)
        EXPECT_NEAR(std::abs(out[at++] - Complex(exact[static_cast<std::size_t>((i * 9 + j) * half + k)])), 0,
                    1e-10);
  plan.backward(out.data(), back.data());
  for (std::size_t i = 0; i < in.size(); ++i) EXPECT_NEAR(std::abs(back[i] - in[i]), 0, 1e-12);
}

}  // namespace

TEST_F(MklAlone, ComputesC2cAndR2c) {
  using enum Transform;
  for (int ranks : {1, 3}) {
    ThreadTeam team(ranks);
    team.run([](const Comm& comm) {
      check<Complex>(comm, {c2c, c2c, c2c});
      check<double>(comm, {c2c, c2c, r2c});
    });
  }
}

TEST_F(MklAlone, SaysWhatItCannotDo) {
  Problem p;
  p.shape = {8, 8};
  p.transforms = {Transform::dct2, Transform::c2c};
  ThreadTeam team(2);
  team.run([&](const Comm& comm) {
    expect_error([&] { Plan plan(comm, p); }, "no DCT or DST");
    expect_error([&] { Plan plan(comm, p, Options().set("fft", "mkl")); }, "no DCT or DST");
    expect_error([&] { Options().set("fft", "fftw"); }, "one of auto, mkl");
  });
}

}  // namespace weft::test
