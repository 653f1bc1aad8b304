// What rank 0's process knows reaches the processes of all ranks.
#include <gtest/gtest.h>

#include "support/says.hpp"
#include "tune/machine.hpp"
#include "tune/wisdom_store.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace weft::test {

TEST(Wisdom, OfRank0ReachesAllRanks) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  forget_wisdom();
  const std::vector<const FftRow*> ffts = find_ffts("fftw");
  const Machine machine = machine_of(comm.impl(), ffts);
  EXPECT_FALSE(says(machine.fingerprint, "with other machines"));
  EXPECT_TRUE(machine.fingerprint.ends_with(", mpi 1x" + std::to_string(comm.size()))) << machine.fingerprint;

  WisdomStore& store = WisdomStore::of_process();
  const double mine = comm.rank();
  const auto remember = [&](const std::string& where, const std::string& problem, const WisdomEntry& entry) {
    store.with([&](Wisdom& wisdom) { wisdom.remember(where, problem, entry); });
  };
  remember(machine.fingerprint, "of all", {{{"tile", std::to_string(comm.rank())}}, 100 - mine, 1});
  FftProblem p;
  p.effort = Effort::measure;
  p.dimensions = {{120, 1, 1}};
  if (comm.rank() == 0) {
    remember(machine.fingerprint, "of rank 0", {{}, 1, 1});
    remember("elsewhere", "of rank 0", {{}, 1, 1});
    fftw_row().plan(p);
  }
  const Wisdom shared = share_wisdom(comm.impl(), machine);
  // Rank 0's counts, even where another rank has found something faster.
  EXPECT_EQ(shared.find(machine.fingerprint, "of all")->options.at("tile"), "0");
  EXPECT_TRUE(store.all().find(machine.fingerprint, "of rank 0"));
  EXPECT_EQ(store.all().find("elsewhere", "of rank 0").has_value(), comm.rank() == 0);
  EXPECT_NE(fftw_row().export_wisdom(Precision::float64), "");
  forget_wisdom();
}

TEST(Wisdom, ReachesARankAgainThatHasForgottenIt) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  forget_wisdom();
  const Machine machine = machine_of(comm.impl(), find_ffts("fftw"));
  const std::string choices =
      "(weft-fastest-1\n  (fftw #c2c float64 forward out-of-place destroys aligned measure 1 60:1:1 -)\n)\n";
  if (comm.rank() == 0) import_fft_choices(choices);
  const Wisdom first = share_wisdom(comm.impl(), machine);
  EXPECT_EQ(export_fft_choices(), choices);
  if (comm.rank() != 0) forget_wisdom();
  EXPECT_EQ(share_wisdom(comm.impl(), machine), first);
  EXPECT_EQ(export_fft_choices(), choices);
  forget_wisdom();
}

TEST(Wisdom, KnowsMachinesThatAreNotAlike) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  // The last rank has another library.
  std::vector<const FftRow*> ffts = find_ffts("fftw");
  FftRow other = *ffts.front();
  other.version = [] { return std::string("another one"); };
  if (comm.rank() == comm.size() - 1) ffts.front() = &other;
  const Machine machine = machine_of(comm.impl(), ffts);
  EXPECT_TRUE(says(machine.fingerprint, ", with other machines ("));
  EXPECT_TRUE(says(machine.fingerprint, "fftw-3"));
  const std::string of_0 = comm.impl().broadcast(machine.fingerprint, 0);
  EXPECT_EQ(machine.fingerprint, of_0);
}

}  // namespace weft::test
