// The one-sided exchange: windows are made while planning and never again, and freed when no rank needs them,
// in whatever order ranks destroy their plans. Calls of MPI are counted by standing before them.
#include <gtest/gtest.h>
#include <mpi.h>

#include <memory>
#include <vector>

#include "support/expect_error.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace {

int made = 0, freed = 0, gets = 0;
bool refuses = false;  // as an MPI library does that has no way to other processes' memory

}  // namespace

extern "C" {
int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  if (refuses) return MPI_ERR_WIN;
  ++made;
  return PMPI_Win_create(base, size, unit, info, comm, window);
}
int MPI_Win_free(MPI_Win* window) {
  ++freed;
  return PMPI_Win_free(window);
}
int MPI_Rget(void* to, int count, MPI_Datatype type, int rank, MPI_Aint from, int target_count,
             MPI_Datatype target_type, MPI_Win window, MPI_Request* request) {
  ++gets;
  return PMPI_Rget(to, count, type, rank, from, target_count, target_type, window, request);
}
}

namespace weft::test {

using Complex = std::complex<double>;

namespace {

const Options ring = Options().set("exchange", "ring");

/// Two reshapes in each direction.
Problem natural() {
  Problem p;
  p.shape = {12, 18, 8};
  p.output = Distribution::slab(0);
  return p;
}

void expect_ones(const Comm& comm, Plan& plan) {
  Buffer<Complex> in(plan.input_count()), out(plan.output_count());
  if (comm.rank() == 0) in[0] = 1;
  plan.forward(in.data(), out.data());
  for (const Complex& v : out) ASSERT_NEAR(std::abs(v - 1.0), 0, 1e-13);
}

}  // namespace

TEST(OneSided, MemoryIsRegisteredOncePerPlan) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;                 // nothing is exchanged
  { const Plan first(comm, natural(), ring); }  // finds out that there are windows
  for (const char* pipeline : {"sequential", "windowed", "two-front"}) {
    made = gets = 0;
    Plan plan(comm, natural(), Options(ring).set("pipeline", pipeline));
    EXPECT_EQ(made, 1) << pipeline;
    EXPECT_EQ(gets, 0) << pipeline;
    for (int i = 0; i < 4; ++i) expect_ones(comm, plan);
    EXPECT_EQ(made, 1) << pipeline;
    EXPECT_GT(gets, 0) << pipeline;
  }
}

TEST(OneSided, WindowsGoWhenNoRankNeedsThem) {
  made = freed = 0;
  {
    const Comm comm = Comm::mpi(MPI_COMM_WORLD);
    const bool even = comm.rank() % 2 == 0;
    for (int i = 0; i < 5; ++i) {
      auto a = std::make_unique<Plan>(comm, natural(), ring),
           b = std::make_unique<Plan>(comm, natural(), ring);
      expect_ones(comm, *a);
      (even ? a : b).reset();
      comm.barrier();
      (even ? b : a).reset();
      EXPECT_LE(made - freed, 2);
    }
  }
  EXPECT_EQ(made, freed);
}

TEST(OneSided, WithoutWindowsIsAnErrorThatSaysWhatToSet) {
  refuses = true;
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  expect_error([&] { const Plan plan(comm, natural(), ring); }, "MPI_Win_create fails");
  expect_error([&] { const Plan plan(comm, natural(), ring); }, "OMPI_MCA_osc=pt2pt");
  // Trials go on without it.
  Plan plan(comm, natural(), Options().set("effort", "measure").set("trials", 4).set("budget", 1));
  refuses = false;
  expect_ones(comm, plan);
}

TEST(OneSided, NeedsWorkspaceOfThePlan) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  expect_error([&] { const Plan plan(comm, natural(), Options(ring).set("workspace", "user")); },
               "\"ring\" with workspace given by the user");
}

}  // namespace weft::test
