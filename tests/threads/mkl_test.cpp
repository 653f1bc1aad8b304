// Intel MKL as local FFT: held against the direct sum and against FFTW, and proof of which of the two
// computed. This program puts functions of its own in front of FFTW's, which count, so that a plan of one
// library that is secretly computed by the other shows. Without MKL the tests are skipped, unless
// WEFT_TEST_MKL=required.
#include <dlfcn.h>
#include <fftw3.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <random>
#include <thread>

#include "base/environment.hpp"
#include "base/shared_library.hpp"
#include "fft/local_fft.hpp"
#include "support/expect_error.hpp"
#include "support/local_problem.hpp"

namespace {

std::atomic<int> fftw_executions = 0;

template <class... Arguments>
void count_and_forward(const char* name, Arguments... arguments) {
  ++fftw_executions;
  reinterpret_cast<void (*)(Arguments...)>(dlsym(RTLD_NEXT, name))(arguments...);
}

}  // namespace

extern "C" {
void fftw_execute_dft(const fftw_plan p, fftw_complex* in, fftw_complex* out) {
  count_and_forward("fftw_execute_dft", p, in, out);
}
void fftwf_execute_dft(const fftwf_plan p, fftwf_complex* in, fftwf_complex* out) {
  count_and_forward("fftwf_execute_dft", p, in, out);
}
void fftw_execute_dft_r2c(const fftw_plan p, double* in, fftw_complex* out) {
  count_and_forward("fftw_execute_dft_r2c", p, in, out);
}
void fftwf_execute_dft_r2c(const fftwf_plan p, float* in, fftwf_complex* out) {
  count_and_forward("fftwf_execute_dft_r2c", p, in, out);
}
void fftw_execute_dft_c2r(const fftw_plan p, fftw_complex* in, double* out) {
  count_and_forward("fftw_execute_dft_c2r", p, in, out);
}
void fftwf_execute_dft_c2r(const fftwf_plan p, fftwf_complex* in, float* out) {
  count_and_forward("fftwf_execute_dft_c2r", p, in, out);
}
}

namespace weft::test {

namespace {

class Mkl : public testing::Test {
 protected:
  void SetUp() override {
    const std::string missing = mkl.missing();
    if (missing.empty()) return;
    if (environment_value("WEFT_TEST_MKL") == "required") FAIL() << missing;
    GTEST_SKIP() << missing;
  }

  FftRow mkl = mkl_row(), fftw = fftw_row();
};

FftProblem line(Index n) {
  FftProblem p;
  p.dimensions = {{n, 1, 1}};
  p.loops = {{4, n, n}};
  return p;
}

std::string text_of(const FftProblem& p) {
  const auto axes = [](const std::vector<FftDimension>& of) {
    std::string text;
    for (const FftDimension& d : of)
      text +=
          " " + std::to_string(d.n) + ":" + std::to_string(d.from_stride) + ":" + std::to_string(d.to_stride);
    return text;
  };
  return std::string(p.kind == FftKind::real ? "real" : "c2c") +
         (p.direction == Direction::forward ? " forward" : " backward") +
         (p.precision == Precision::float64 ? " double" : " float") + (p.in_place ? " in place" : "") +
         (p.may_destroy_input ? "" : " keeping the input") + ", axes" + axes(p.dimensions) + ", loops" +
         axes(p.loops);
}

double distance(const std::vector<Exact>& a, const std::vector<Exact>& b) {
  long double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::norm(a[i] - b[i]);
    norm += std::norm(b[i]);
  }
  return static_cast<double>(std::sqrt(difference / norm));
}

}  // namespace

TEST_F(Mkl, AgreesWithTheDirectSumAndFftw) {
  std::mt19937_64 random(1);
  int both = 0;
  for (int i = 0; i < 600; ++i) {
    const LocalProblem problem = random_local_problem(random);
    SCOPED_TRACE(text_of(problem.fft));
    if (problem.fft.in_place && problem.fft.kind == FftKind::real && problem.fft.dimensions.back().n == 1) {
      EXPECT_NE(mkl.unable(problem.fft), "");
      continue;
    }
    ASSERT_EQ(mkl.unable(problem.fft), "");
    const LocalResult by_mkl = compute(*mkl.plan(problem.fft), problem);
    EXPECT_LE(by_mkl.error, local_bound(problem));
    EXPECT_TRUE(by_mkl.input_kept || problem.fft.may_destroy_input);
    EXPECT_TRUE(by_mkl.gaps_kept);
    if (!fftw.unable(problem.fft).empty()) continue;
    const LocalResult by_fftw = compute(*fftw.plan(problem.fft), problem);
    EXPECT_LE(by_fftw.error, local_bound(problem));
    EXPECT_TRUE(by_fftw.input_kept || problem.fft.may_destroy_input);
    EXPECT_TRUE(by_fftw.gaps_kept);
    EXPECT_LE(distance(by_mkl.output, by_fftw.output), 2 * local_bound(problem));
    ++both;
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(both, 400);
}

TEST_F(Mkl, IsComputedByMklAndFftwByFftw) {
  EXPECT_TRUE(says(mkl.file(), "libmkl_rt"));
  EXPECT_TRUE(says(fftw.file(), "libfftw3"));
  EXPECT_EQ(fftw.missing(), "");
  std::mt19937_64 random(2);
  for (int i = 0; i < 40; ++i) {
    const LocalProblem problem = random_local_problem(random);
    SCOPED_TRACE(text_of(problem.fft));
    if (!mkl.unable(problem.fft).empty()) continue;
    fftw_executions = 0;
    compute(*mkl.plan(problem.fft), problem);
    EXPECT_EQ(fftw_executions, 0);
    if (!fftw.unable(problem.fft).empty()) continue;
    compute(*fftw.plan(problem.fft), problem);
    EXPECT_EQ(fftw_executions, 1);
  }
  // MKL is running now, and its functions of the same names have not taken over.
  for (const char* name : {"fftw_plan_guru64_dft", "fftw_execute_r2r", "fftwf_execute", "fftw_init_threads"})
    EXPECT_TRUE(says(file_of(dlsym(RTLD_DEFAULT, name)), "libfftw3")) << name;
}

TEST_F(Mkl, SharesPlansOfEqualTransforms) {
  const auto a = mkl.plan(line(16)), b = mkl.plan(line(16)), c = mkl.plan(line(17));
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  FftProblem scaled = line(16);
  scaled.scale = 0.5;
  EXPECT_NE(a, mkl.plan(scaled));
}

TEST_F(Mkl, OnePlanServesSeveralThreads) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 10; ++i) {
    const LocalProblem problem = random_local_problem(random);
    if (!mkl.unable(problem.fft).empty()) continue;
    const auto plan = mkl.plan(problem.fft);
    const std::vector<Exact> alone = compute(*plan, problem).output;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int repeat = 0; repeat < 10; ++repeat)
          EXPECT_LE(distance(compute(*plan, problem).output, alone), local_bound(problem));
      });
    for (std::thread& t : threads) t.join();
  }
}

TEST_F(Mkl, SaysWhatItCannotDo) {
  FftProblem p = line(8);
  p.kind = FftKind::r2r;
  p.dimensions[0].transform = Transform::dct2;
  EXPECT_EQ(mkl.unable(p), "the MKL back end has no DCT or DST");
  const PlannedFft planned = plan_fft(find_ffts("mkl"), p);
  EXPECT_STREQ(planned.row->name, "fftw");

  p = line(8);
  p.in_place = true;
  EXPECT_EQ(mkl.unable(p), "");
  p.loops[0].to_stride = 9;
  EXPECT_TRUE(says(mkl.unable(p), "in place"));
  p = FftProblem{};
  p.dimensions.assign(8, {2, 1, 1});
  EXPECT_EQ(mkl.unable(p), "MKL transforms at most 7 axes at once");
  p.dimensions[3].n = 1;
  EXPECT_EQ(mkl.unable(p), "");
}

TEST_F(Mkl, IsChosenByName) {
  EXPECT_STREQ(find_ffts("auto").front()->name, "fftw");
  EXPECT_STREQ(find_ffts("mkl").front()->name, "mkl");
  EXPECT_EQ(find_ffts("mkl").size(), 2u);
  expect_error([] { find_ffts("fast"); }, "auto, fftw, mkl");
}

}  // namespace weft::test
