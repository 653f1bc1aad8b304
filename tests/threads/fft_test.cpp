// The local FFT back end: equal transforms share a plan, and planning is safe beside the user's own FFTW
// calls.
#include <fftw3.h>
#include <gtest/gtest.h>

#include <thread>

#include "fft/local_fft.hpp"
#include "support/expect_error.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

FftProblem line(Index n) {
  FftProblem p;
  p.dimensions = {{n, 1, 1}};
  p.loops = {{4, n, n}};
  return p;
}

}  // namespace

TEST(LocalFft, EqualTransformsShareOnePlan) {
  const FftRow& fft = find_fft("auto");
  const auto a = fft.plan(line(16)), b = fft.plan(line(16)), c = fft.plan(line(17));
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  FftProblem unaligned = line(16);
  unaligned.aligned = false;
  EXPECT_NE(a, fft.plan(unaligned));
  expect_error([] { find_fft("fast"); }, "auto, fftw");
}

TEST(LocalFft, PlansBesideTheUsersOwnCalls) {
  ThreadTeam team(4);
  team.run([](const Comm& comm) {
    for (int i = 1; i < 40; ++i) {
      if (comm.rank() == 3) {
        std::vector<fftw_complex> data(static_cast<std::size_t>(i));
        fftw_plan p = fftw_plan_dft_1d(i, data.data(), data.data(), FFTW_FORWARD, FFTW_ESTIMATE);
        fftw_execute(p);
        fftw_destroy_plan(p);
      } else {
        Problem problem;
        problem.shape = {4, i};
        Plan plan(Comm::self(), problem);
        Buffer<std::complex<double>> in(plan.input_count()), out(plan.output_count());
        in[0] = 1;  // an impulse becomes a constant
        plan.forward(static_cast<const std::complex<double>*>(in.data()), out.data());
        for (const auto& v : out) ASSERT_EQ(v, 1.0);
      }
    }
  });
}

/// Shift and linearity, which no comparison with another implementation is needed for.
TEST(Algebra, ShiftAndLinearity) {
  using Complex = std::complex<double>;
  ThreadTeam team(3);
  team.run([](const Comm& comm) {
    Problem problem;
    problem.shape = {10, 9, 7};
    problem.output = Distribution::slab(1);
    Plan plan(comm, problem);
    const Box in_box = plan.input_box(), out_box = plan.output_box();
    Buffer<Complex> x(plan.input_count()), y(plan.input_count()), fx(plan.output_count()),
        fy(plan.output_count());
    const auto value = [](Index i, Index j, Index k) {
      return Complex(static_cast<double>((i * 31 + j * 17 + k * 7) % 23) - 11,
                     static_cast<double>((i + 2 * j + 5 * k) % 13) - 6);
    };
    std::size_t at = 0;
    for (Index i = in_box.lo[0]; i < in_box.hi[0]; ++i)
      for (Index j = in_box.lo[1]; j < in_box.hi[1]; ++j)
        for (Index k = in_box.lo[2]; k < in_box.hi[2]; ++k, ++at) {
          x[at] = value(i, j, k);
          y[at] = 3.0 * value((i + 9) % 10, j, k);  // three times the array, shifted by one along axis 0
        }
    plan.forward(static_cast<const Complex*>(x.data()), fx.data());
    plan.forward(static_cast<const Complex*>(y.data()), fy.data());
    at = 0;
    for (Index i = out_box.lo[0]; i < out_box.hi[0]; ++i)
      for (Index j = out_box.lo[1]; j < out_box.hi[1]; ++j)
        for (Index k = out_box.lo[2]; k < out_box.hi[2]; ++k, ++at) {
          const Complex expected =
              3.0 * std::polar(1.0, -2 * std::acos(-1.0) * static_cast<double>(i) / 10) * fx[at];
          ASSERT_NEAR(std::abs(fy[at] - expected), 0, 1e-10);
        }
  });
}

}  // namespace weft::test
