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

}  // namespace weft::test
