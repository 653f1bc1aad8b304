// Trials and their wisdom among MPI ranks: all ranks make the same ones, and the file is rank 0's.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "api/online.hpp"
#include "base/test_hook.hpp"
#include "comm/comm_impl.hpp"
#include "fft/local_fft.hpp"
#include "support/disturbance.hpp"
#include "support/says.hpp"
#include "support/tuned.hpp"
#include "tune/machine.hpp"
#include "tune/wisdom_store.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

/// Uneven on most numbers of ranks, so that ranks meet local FFTs that others do not.
Problem uneven() {
  Problem p;
  p.shape = {14, 10, 8};
  return p;
}

}  // namespace

TEST(Tuning, ComesOutRight) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() > 3) return;  // a few trials are enough
  forget_wisdom();
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const RandomProblem p =
        make_tuned_problem(500 + seed, comm.size(), true, seed == 1 ? "patient" : "measure");
    ASSERT_NO_THROW(run_random_problem(comm, p)) << p.describe();
  }
  forget_wisdom();
}

TEST(Tuning, OfExecutionsComesOutRight) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() > 4) return;
  forget_wisdom();
  const ScopedSwitch reckless(detail::online_at_any_cost, true);
  const int count = problem_count(2);
  for (int i = 0; i < count; ++i) {
    const RandomProblem p =
        make_online_problem(first_seed() + 50'000 + static_cast<std::uint64_t>(i), comm.size(), true);
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    ASSERT_NO_THROW(run_random_problem(comm, p)) << p.describe();
    forget_wisdom();
  }
}

/// Ranks of different speed, that complete two plans in different orders, and destroy one in the middle.
TEST(Tuning, OfExecutionsIsOneDecisionOfAllRanks) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() > 4) return;
  forget_wisdom();
  const ScopedSwitch reckless(detail::online_at_any_cost, true);
  TestHook slower;
  slower.at_point = [](const char* point, int rank) {
    if (std::strcmp(point, "op") == 0) std::this_thread::sleep_for(std::chrono::microseconds(50 * rank));
  };
  const ScopedTestHook hook(slower);
  const Options options =
      Options().set("effort", "online").set("exchange", comm.size() == 1 ? "auto" : "p2p");
  auto a = std::make_unique<Plan>(comm, uneven(), options);
  Plan b(comm, uneven(), options);
  using Complex = std::complex<double>;
  const std::vector<Complex> in(a->input_count(), {1, 2});
  std::vector<Complex> out_a(a->output_count()), out_b(b.output_count());
  for (int i = 0; i < 24; ++i) {
    if (i == 7) a.reset();  // what it has given of its last execution is not read by anybody
    if (a) a->start_forward(in.data(), out_a.data());
    if (i % 2 == 0) b.start_forward(in.data(), out_b.data());
    if (comm.rank() % 2 == 0 && a) a->wait();
    b.wait();
    if (a) a->wait();
    if (i % 2 == 1) b.forward(in.data(), out_b.data());
  }
  const OnlineTuning tuning = b.explain().online;
  std::string text = tuning.state;
  for (const OnlineExecution& e : tuning.executions)
    text += " " + std::to_string(e.seconds) + (e.tried ? "!" : "");
  EXPECT_EQ(text, comm.impl().broadcast(text, 0));
  // On a machine that is busy otherwise it may have settled, and look again.
  const bool again = says(text, "looking again, ");
  EXPECT_TRUE(again || says(text, "settled after ")) << text;
  EXPECT_TRUE(again || tuning.executions.front().disturbed || comm.size() == 1);
  forget_wisdom();
}

TEST(Tuning, WithWisdomMakesNoTrialAndTheSamePlan) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() == 1 || comm.size() > 3) return;
  const std::string file = new_wisdom_file(comm);
  forget_wisdom();
  const PlanRecord found = record(comm, uneven(), quick("patient", file, 8));
  EXPECT_GT(found.plans, 2);
  EXPECT_EQ(found.learnt.origin, Origin::trial);
  for (const bool fresh : {false, true}) {
    if (fresh) forget_wisdom();
    const PlanRecord again = record(comm, uneven(), quick("patient", file, 8));
    EXPECT_EQ(again.plans, 1);
    EXPECT_EQ(again.learnt.origin, Origin::wisdom);
    EXPECT_EQ(again.identity, found.identity);
  }
  // Impossible by now: said, on all ranks alike survived.
  if (comm.rank() == 0) edit_options(file, R"("pipeline": "planes", "tile": "1000000")");
  forget_wisdom();
  PlanRecord rule;
  const std::string said = warnings_of([&] { rule = record(comm, uneven(), Options().set("wisdom", file)); });
  EXPECT_EQ(rule.plans, 1);
  EXPECT_EQ(rule.learnt.origin, Origin::rule);
  if (comm.rank() == 0) {
    EXPECT_TRUE(says(said, "says of this problem does not work"));
  }
  // Nobody else reads the file.
  forget_wisdom();
  if (comm.rank() == 0) remove_wisdom(file);
  comm.barrier();
  const auto plan_again = [&] { rule = record(comm, uneven(), Options().set("wisdom", file)); };
  EXPECT_EQ(warnings_of(plan_again), "");
  EXPECT_EQ(rule.learnt.origin, Origin::rule);
}

TEST(Tuning, TooLittleRoomForATrialIsNoError) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() != 3) return;
  forget_wisdom();
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  if (comm.rank() <= 1) {  // the first one has the array that all share, if they do
    const rlimit small{4096, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  PlanRecord r;
  const std::string said = warnings_of([&] { r = record(comm, uneven(), quick("measure", "", 12)); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(r.learnt.origin, Origin::trial);
  EXPECT_GT(r.plans, 2);
  for (const Leg& leg : all_legs(r.design)) EXPECT_NE(leg.exchange, "direct");
  // Of the plan that is made at most, not of every trial.
  std::size_t warnings = 0;
  for (std::size_t at = 0; (at = said.find("no room for", at)) != std::string::npos; ++at) ++warnings;
  EXPECT_LE(warnings, 1u) << said;
  forget_wisdom();
}

TEST(Tuning, WhatOtherRanksHaveMetIsGathered) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  forget_wisdom();
  const std::vector<const FftRow*> ffts = find_ffts("fftw");
  const Machine machine = machine_of(comm.impl(), ffts);
  const auto line = [](int n) {
    FftProblem p;
    p.effort = Effort::measure;
    p.dimensions = {{n, 1, 1}};
    return p;
  };
  // All have met one transform; each has met one of its own.
  fftw_row().plan(line(60));
  fftw_row().plan(line(61 + comm.rank()));
  const std::string known =
      "(weft-fastest-1\n  (fftw #c2c float64 forward out-of-place destroys aligned measure 1 " +
      std::to_string(61 + comm.rank()) + ":1:1 -)\n)\n";
  import_fft_choices(known);
  gather_wisdom(comm.impl(), machine);
  const std::string choices = export_fft_choices();
  for (int r = 0; r < comm.size(); ++r) EXPECT_TRUE(says(choices, " " + std::to_string(61 + r) + ":1:1 "));
  const std::string of_0 = comm.impl().broadcast(choices, 0);
  EXPECT_EQ(choices, of_0);
  const std::string fftw = fftw_row().export_wisdom(Precision::float64);
  const auto lines = std::count(fftw.begin(), fftw.end(), '\n');
  EXPECT_EQ(std::to_string(lines), comm.impl().broadcast(std::to_string(lines), 0));
  forget_wisdom();
}

}  // namespace weft::test
