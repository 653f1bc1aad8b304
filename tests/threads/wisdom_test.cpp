// The wisdom of the process: shared by its ranks, saved with what FFTW has learnt, and given back to FFTW.
#include <fftw3.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstdlib>
#include <fstream>

#include "base/text.hpp"
#include "fft/local_fft.hpp"
#include "support/says.hpp"
#include "support/tuned.hpp"
#include "tune/machine.hpp"
#include "tune/wisdom_file.hpp"
#include "tune/wisdom_store.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

/// Whether FFTW would plan this without measuring. The same transform as `measure` plans.
bool knows_in_double(int n) {
  std::vector<std::complex<double>> data(static_cast<std::size_t>(2 * n));
  auto* const in = reinterpret_cast<fftw_complex*>(data.data());
  const fftw_iodim64 d{n, 1, 1};
  const fftw_plan plan = fftw_plan_guru64_dft(1, &d, 0, nullptr, in, in + n, FFTW_FORWARD,
                                              FFTW_MEASURE | FFTW_DESTROY_INPUT | FFTW_WISDOM_ONLY);
  if (plan != nullptr) fftw_destroy_plan(plan);
  return plan != nullptr;
}

bool knows_in_float(int n) {
  std::vector<std::complex<float>> data(static_cast<std::size_t>(2 * n));
  auto* const in = reinterpret_cast<fftwf_complex*>(data.data());
  const fftwf_iodim64 d{n, 1, 1};
  const fftwf_plan plan = fftwf_plan_guru64_dft(1, &d, 0, nullptr, in, in + n, FFTW_FORWARD,
                                                FFTW_MEASURE | FFTW_DESTROY_INPUT | FFTW_WISDOM_ONLY);
  if (plan != nullptr) fftwf_destroy_plan(plan);
  return plan != nullptr;
}

void measure(Precision precision, Index n) {
  FftProblem p;
  p.precision = precision;
  p.effort = Effort::measure;
  p.dimensions = {{n, 1, 1}};
  fftw_row().plan(p);
}

WisdomEntry entry(double seconds) {
  return {{{"pipeline", "planes"}}, seconds, 1};
}

}  // namespace

TEST(WisdomOfTheProcess, FftwsComesBackFromTheFile) {
  const std::string file = new_wisdom_file();
  forget_wisdom();
  measure(Precision::float64, 3000);
  measure(Precision::float32, 3002);
  WisdomStore& store = WisdomStore::of_process();
  const auto known = [&] {
    return store.with([](const Wisdom& wisdom) { return wisdom.find("machine", "problem"); });
  };
  store.with([](Wisdom& wisdom) { wisdom.remember("machine", "problem", entry(1)); });
  EXPECT_TRUE(knows_in_double(3000) && knows_in_float(3002));
  ASSERT_TRUE(export_wisdom(file));
  forget_wisdom();
  EXPECT_FALSE(knows_in_double(3000) || knows_in_float(3002));
  EXPECT_FALSE(known());
  // Another process learns something else, and what the file knows stays.
  measure(Precision::float64, 2000);
  ASSERT_TRUE(export_wisdom(file));
  forget_wisdom();
  ASSERT_TRUE(import_wisdom(file));
  EXPECT_TRUE(knows_in_double(3000) && knows_in_float(3002) && knows_in_double(2000));
  EXPECT_FALSE(knows_in_double(3002) || knows_in_float(3000));
  EXPECT_EQ(known(), entry(1));
  forget_wisdom();
  remove_wisdom(file);
}

TEST(WisdomOfTheProcess, KeepsWhatFftwLearnsByItsOwnEffort) {
  const std::string file = new_wisdom_file();
  const auto text_of_plan = [&](const char* fft_effort) {
    std::string text;
    ThreadTeam(2).run([&](const Comm& comm) {
      Problem problem;
      problem.shape = {36, 50};
      Options options;
      options.set("fft", "fftw").set("budget", "0.2s").set("fft_effort", fft_effort).set("wisdom", file);
      const Plan plan(comm, problem, options);
      if (comm.rank() == 0) text = plan.to_string();
    });
    return text;
  };
  const auto of_fftw = [] {
    std::vector<std::string> lines = split_lines(fftw_row().export_wisdom(Precision::float64));
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  forget_wisdom();
  EXPECT_TRUE(says(text_of_plan("auto"), "effort estimate\n"));
  const std::vector<std::string> estimated = of_fftw();
  EXPECT_TRUE(says(text_of_plan("measure"), "effort estimate, of local FFTs measure\n"));
  const std::vector<std::string> learnt = of_fftw();
  EXPECT_NE(learnt, estimated);
  forget_wisdom();
  ASSERT_TRUE(import_wisdom(file));
  EXPECT_EQ(of_fftw(), learnt);
  forget_wisdom();
  remove_wisdom(file);
}

TEST(WisdomOfTheProcess, FilesThatCannotBeUsedAreNoFailure) {
  const std::string file = new_wisdom_file();
  EXPECT_FALSE(import_wisdom(file));
  std::ofstream(file) << "{\"weft_wisdom\": 1, ";
  EXPECT_FALSE(import_wisdom(file));
  std::ofstream(file) << "{\"weft_wisdom\": 7}";
  EXPECT_FALSE(import_wisdom(file));
  EXPECT_FALSE(export_wisdom(file));
  EXPECT_FALSE(export_wisdom(file + "/none"));
  remove_wisdom(file);
}

TEST(WisdomOfTheProcess, FftwRefusesDamagedWisdom) {
  forget_wisdom();
  measure(Precision::float64, 3000);
  const std::string good = fftw_row().export_wisdom(Precision::float64);
  ASSERT_FALSE(good.empty());
  EXPECT_EQ(fftw_row().export_wisdom(Precision::float32), "");
  forget_wisdom();
  EXPECT_EQ(fftw_row().export_wisdom(Precision::float64), "");
  EXPECT_FALSE(fftw_row().import_wisdom(Precision::float64, "nonsense"));
  EXPECT_FALSE(fftw_row().import_wisdom(Precision::float64, ""));
  EXPECT_FALSE(fftw_row().import_wisdom(Precision::float32, good));
  for (std::size_t n = 0; n + 3 < good.size(); n += 7)
    EXPECT_FALSE(fftw_row().import_wisdom(Precision::float64, good.substr(0, n))) << n;
  for (std::size_t at = 0; at < good.size(); at += 3)
    for (const char c : {'(', ')', '#', ' ', 'x', '9', '\xff'}) {
      std::string spoilt = good;
      spoilt[at] = c;
      static_cast<void>(fftw_row().import_wisdom(Precision::float64, spoilt));
    }
  forget_wisdom();
  const std::string key = Machine::library(hardware_text(), fftw_row(), Precision::float64);
  Wisdom damaged;
  damaged.remember_library(key, "nonsense");
  EXPECT_TRUE(says(WisdomStore::of_process().learn(damaged), "fftw refuses"));
  // What FFTW learns from then on takes its place.
  measure(Precision::float64, 2000);
  EXPECT_EQ(WisdomStore::of_process().all().library(key), fftw_row().export_wisdom(Precision::float64));
  forget_wisdom();
}

TEST(WisdomOfTheProcess, IsOneForAllThreadRanks) {
  forget_wisdom();
  std::atomic<int> agreed = 0;
  ThreadTeam team(4);
  team.run([&](const Comm& comm) {
    const std::vector<const FftRow*> ffts = find_ffts("fftw");
    const Machine machine = machine_of(comm.impl(), ffts);
    EXPECT_FALSE(says(machine.fingerprint, "with other machines"));
    EXPECT_TRUE(machine.fingerprint.starts_with(machine.hardware + ", weft "));
    EXPECT_TRUE(machine.fingerprint.ends_with(", threads 1x4")) << machine.fingerprint;
    EXPECT_TRUE(says(machine.fingerprint, "fftw-3"));
    WisdomStore& store = WisdomStore::of_process();
    const std::string mine = std::to_string(comm.rank());
    for (int i = 0; i < 50; ++i) {
      store.with([&](Wisdom& wisdom) {
        wisdom.remember(machine.fingerprint, mine, entry(i));
        wisdom.remember_constant(machine.fingerprint, mine, i);
      });
      store.with([all = store.all()](Wisdom& wisdom) { wisdom.merge(all); });
    }
    // Until now a rank may have merged what another one has replaced since.
    comm.barrier();
    store.with([&](Wisdom& wisdom) { wisdom.remember(machine.fingerprint, mine, entry(49)); });
    comm.barrier();
    if (comm.rank() == 0)
      store.with([](Wisdom& wisdom) { wisdom.remember("elsewhere", "problem", entry(1)); });
    const Wisdom shared = share_wisdom(comm.impl(), machine);
    for (int r = 0; r < 4; ++r)
      if (shared.find(machine.fingerprint, std::to_string(r)) == entry(49)) ++agreed;
    EXPECT_FALSE(shared.find("elsewhere", "problem"));
  });
  EXPECT_EQ(agreed, 16);
  EXPECT_TRUE(WisdomStore::of_process().all().find("elsewhere", "problem"));
  forget_wisdom();
  EXPECT_TRUE(WisdomStore::of_process().all().empty());
}

}  // namespace weft::test
