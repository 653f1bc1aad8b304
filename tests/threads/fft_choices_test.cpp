// Which library does which local FFT, as option fft=auto has found: as text, in wisdom, and what wrong text
// does.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "fft/local_fft.hpp"
#include "support/expect_error.hpp"
#include "support/tuned.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

int plans_of_another = 0;

/// FFTW under another name, that counts.
FftRow another_library() {
  FftRow row = *find_ffts("fftw").front();
  row.name = "another";
  row.plan = [](const FftProblem& p) {
    ++plans_of_another;
    return find_ffts("fftw").front()->plan(p);
  };
  return row;
}

}  // namespace

TEST(FftChoices, AreTextAndComeBack) {
  forget_fft_choices();
  EXPECT_EQ(export_fft_choices(), "");
  static const FftRow other = another_library();
  const FftRow* const fftw = find_ffts("fftw").front();
  const FftRow* const rows[] = {&other, fftw};
  FftProblem a;
  a.scale = 1.0 / 3;
  a.effort = Effort::measure;
  a.dimensions = {{12, 1, 5}};
  a.loops = {{5, 12, 1}};
  FftProblem b;
  b.kind = FftKind::r2r;
  b.precision = Precision::float32;
  b.aligned = b.may_destroy_input = false;
  b.dimensions = {{10, 1, 1, Transform::dst3}, {6, 10, 10, Transform::dct2}};
  plan_fastest_fft(rows, a);
  plan_fastest_fft(rows, b);
  EXPECT_EQ(plans_of_another, 2 + (plan_fastest_fft(rows, a).row == &other ? 1 : 0));
  std::string text = export_fft_choices();
  for (std::size_t at; (at = text.find("(another")) != std::string::npos;) text.replace(at, 8, "(fftw");
  const std::string expected =
      "(weft-fastest-1\n"
      "  (fftw #c2c float64 forward out-of-place destroys aligned measure 0.3333333333333333 12:1:5 5:12:1)\n"
      "  (fftw #r2r float32 forward out-of-place keeps anywhere estimate 1 10:1:1:dst3,6:10:10:dct2 -)\n"
      ")\n";
  forget_fft_choices();
  ASSERT_TRUE(import_fft_choices(text));
  EXPECT_EQ(export_fft_choices(), expected);
  plans_of_another = 0;
  EXPECT_EQ(plan_fastest_fft(rows, a).row, fftw);
  EXPECT_EQ(plan_fastest_fft(rows, b).row, fftw);
  EXPECT_EQ(plans_of_another, 0);
  forget_fft_choices();
}

TEST(FftChoices, WhatMakesNoSenseIsLeftOut) {
  forget_fft_choices();
  const std::string line =
      "  (fftw #c2c float64 forward out-of-place destroys aligned measure 1 12:1:5 5:12:1)";
  const auto text = [](const std::string& lines) { return "(weft-fastest-1\n" + lines + "\n)\n"; };
  for (const std::string& other : {std::string(), std::string("x"), line,
                                   "(weft-fastest-2\n" + line + "\n)\n", "(weft-fastest-1\n" + line})
    EXPECT_FALSE(import_fft_choices(other)) << other;
  std::vector<std::string> lines{"", "  ()", "  (fftw #)", "fftw", "  (fftw # )"};
  lines.push_back("  (cufft" + line.substr(line.find(" #")));
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"c2c", "c3c"},
                                                        {"float64", "float"},
                                                        {" 1 ", " nan "},
                                                        {" 1 ", " inf "},
                                                        {" 1 ", " one "},
                                                        {" 1 ", " "},
                                                        {"12:1:5", "12:1"},
                                                        {"12:1:5", "12::5"},
                                                        {"12:1:5", "12:1:5:dct9"},
                                                        {"12:1:5", "12:1:5:dct1:1"},
                                                        {"12:1:5", "99999999999999999999:1:5"},
                                                        {"5:12:1)", "5:12:1 more)"},
                                                        {"measure", "rush"},
                                                        {"12:1:5", "12:1:5,"}}) {
    std::string spoilt = line;
    lines.push_back(spoilt.replace(spoilt.find(from), from.size(), to));
  }
  for (std::size_t n = 0; n < line.size(); ++n) lines.push_back(line.substr(0, n));
  for (const std::string& bad : lines) {
    EXPECT_TRUE(import_fft_choices(text(bad))) << bad;
    EXPECT_EQ(export_fft_choices(), "") << bad;
  }
  // What a library cannot do after all is tried again.
  FftProblem p;
  p.kind = FftKind::r2r;
  p.dimensions = {{1, 1, 1, Transform::dct1}};
  const std::vector<const FftRow*> rows = find_ffts("fftw");
  EXPECT_TRUE(import_fft_choices(
      text("  (fftw #r2r float64 forward out-of-place destroys aligned estimate 1 1:1:1:dct1 -)")));
  EXPECT_NE(export_fft_choices(), "");
  expect_error([&] { plan_fastest_fft(rows, p); }, "needs two points");
  forget_fft_choices();
}

TEST(FftChoices, AreInWisdom) {
  if (find_ffts("auto").size() < 2) GTEST_SKIP() << "one local FFT library only";
  const std::string file = new_wisdom_file();
  forget_wisdom();
  ThreadTeam team(2);
  Problem problem;
  problem.shape = {16, 8, 8};
  record(team, problem, quick("measure", file));
  const std::string choices = export_fft_choices();
  EXPECT_NE(choices, "");
  forget_wisdom();
  EXPECT_EQ(export_fft_choices(), "");
  ASSERT_TRUE(import_wisdom(file));
  EXPECT_EQ(export_fft_choices(), choices);
  remove_wisdom(file);
  forget_wisdom();
}

}  // namespace weft::test
