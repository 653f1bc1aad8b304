// NVSHMEM between MPI ranks that have a device each: its double, or what this machine has. It is initialised
// once in a process, so that what happens before comes first.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/test_hook.hpp"
#include "device/device.hpp"
#include "support/design_of.hpp"
#include "support/device_mirror.hpp"
#include "support/device_problem.hpp"
#include "support/devices.hpp"
#include "support/disturbance.hpp"
#include "support/expect_error.hpp"
#include "support/nvshmem_double.hpp"
#include "support/scoped_variable.hpp"
#include "transport/nvshmem/library.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;

Options by_nvshmem() {
  return Options().set("exchange", "nvshmem");
}

/// There is none on this machine but the double, or none at all.
class ScopedNvshmem {
 public:
  explicit ScopedNvshmem(const nvshmem::Functions* functions) {
    if (ScopedDevices::are_on_host()) nvshmem::replace_functions(functions);
  }
  ~ScopedNvshmem() { nvshmem::replace_functions(nullptr); }
  ScopedNvshmem(const ScopedNvshmem&) = delete;
  ScopedNvshmem& operator=(const ScopedNvshmem&) = delete;
};

/// Forward with arrays of its own, all of them ones in the spectrum; waits for it.
void forward(const Comm& comm, Plan& plan) {
  DeviceMirror mirror;
  plan.set_stream(static_cast<CUstream_st*>(mirror.stream().native()));
  std::vector<Complex> values(plan.input_count());
  if (comm.rank() == 0 && !values.empty()) values[0] = 1;
  auto* in = reinterpret_cast<Complex*>(mirror.upload(values.data(), values.size() * sizeof(Complex)));
  auto* out = reinterpret_cast<Complex*>(mirror.fresh(plan.output_count() * sizeof(Complex)));
  plan.forward(in, out);
  plan.wait();
  std::vector<Complex> result(plan.output_count());
  mirror.download(result.data(), reinterpret_cast<std::byte*>(out), result.size() * sizeof(Complex));
  for (const Complex& v : result) ASSERT_NEAR(std::abs(v - 1.0), 0, 1e-13);
}

/// The ranks of MPI_COMM_WORLD in another order.
struct Reversed {
  MPI_Comm comm = MPI_COMM_NULL;
  Reversed() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
  }
  ~Reversed() { MPI_Comm_free(&comm); }
  Reversed(const Reversed&) = delete;
  Reversed& operator=(const Reversed&) = delete;
};

}  // namespace

class DeviceNvshmem : public testing::Test {
 protected:
  void SetUp() override {
    enter({.processes = true});
    if (world_.size() == 1) GTEST_SKIP() << "one rank, which exchanges nothing";
    if (!nvshmem::missing().empty()) GTEST_SKIP() << nvshmem::missing();
    if (ScopedDevices::count() < world_.size()) GTEST_SKIP() << "fewer devices than ranks";
  }

  /// Devices of this manner in the place of those before.
  void enter(const DevicesManner& manner) {
    devices_.emplace(manner);
    ScopedDevices::choose(world_.rank() % ScopedDevices::count());
  }

  Comm world_ = Comm::mpi(MPI_COMM_WORLD);

 private:
  std::optional<ScopedDevices> devices_;
  ScopedNvshmem there_{&nvshmem_double()};
};

TEST_F(DeviceNvshmem, WithoutItIsAClearErrorOnAllRanks) {
  if (!ScopedDevices::are_on_host()) GTEST_SKIP() << "it is here";
  const ScopedVariable variable("WEFT_NVSHMEM_LIBRARY", "/no/such/library");
  const ScopedNvshmem none(nullptr);
  expect_error([&] { const Plan plan(world_, on_device(), by_nvshmem()); }, "\"nvshmem\": /no/such/library");
}

TEST_F(DeviceNvshmem, OfTheProgramIsUsedAndLeftToIt) {
  if (!ScopedDevices::are_on_host()) GTEST_SKIP() << "it may be initialised once";
  const nvshmem::Functions& f = nvshmem_double();
  nvshmem::UniqueId id;
  nvshmem::Start start;
  f.get_unique_id(&id);
  f.set_ranks(world_.rank(), world_.size(), &id, &start);
  ASSERT_EQ(f.start(nvshmem::by_unique_id, &start), 0);
  const int starts = nvshmem_double_starts();
  {
    Plan plan(world_, on_device(), by_nvshmem());
    forward(world_, plan);
  }
  EXPECT_EQ(nvshmem_double_starts(), starts);
  f.end();
}

TEST_F(DeviceNvshmem, ARankThatCannotStartItLeavesNobodyWaiting) {
  {
    TestHook hook;  // before it meets the others
    hook.at_point = [](const char* point, int rank) {
      if (std::string(point) == "nvshmem" && rank == 0) throw Error("test", "out of luck", "");
    };
    const ScopedTestHook scope(hook);
    expect_error([&] { const Plan plan(world_, on_device(), by_nvshmem()); }, "out of luck");
  }
  Plan after(world_, on_device(), by_nvshmem());
  forward(world_, after);
}

TEST_F(DeviceNvshmem, GivesTheBitsOfAnotherExchangeThatPacks) {
  const Plan first(world_, on_device(), by_nvshmem());
  const int starts = nvshmem_double_starts();
  const int count = problem_count(ScopedDevices::problems() / 2);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed() + 11000 + static_cast<std::uint64_t>(i);
    RandomProblem p = make_device_problem(seed, world_.size(), {"p2p", "nvshmem"});
    p.graph = "auto";
    p.puts = "auto";
    draw_far_pairs(p);
    enter({.delays = p.delays, .processes = true, .reach = p.reach});
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    ASSERT_NO_THROW(run_random_problem(world_, p)) << p.describe();
  }
  EXPECT_EQ(nvshmem_double_starts(), starts);
}

TEST_F(DeviceNvshmem, ExecutionsFollowEachOtherWithoutTheHost) {
  DeviceMirror mirror;
  Plan plan(world_, on_device(), by_nvshmem());
  plan.set_stream(static_cast<CUstream_st*>(mirror.stream().native()));
  std::vector<Complex> values(std::max(plan.input_count(), plan.output_count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = {double(i), double(world_.rank())};
  auto* const first =
      reinterpret_cast<Complex*>(mirror.upload(values.data(), values.size() * sizeof(Complex)));
  auto* const other = reinterpret_cast<Complex*>(mirror.fresh(values.size() * sizeof(Complex)));
  for (int i = 0; i < 20; ++i) {
    plan.forward(first, other);
    plan.backward(other, first);
  }
  plan.wait();
  std::vector<Complex> result(plan.input_count());
  mirror.download(result.data(), reinterpret_cast<std::byte*>(first), result.size() * sizeof(Complex));
  double points = 1;
  for (const Index n : on_device().shape) points *= double(n);
  const double scale = std::pow(points, 20);
  for (std::size_t i = 0; i < result.size(); ++i)
    ASSERT_LE(std::abs(result[i] / scale - values[i]), 1e-10 * double(values.size()));
}

TEST_F(DeviceNvshmem, ServesAllOfItsRanksInAnyOrderAndNoOthers) {
  {
    const Plan first(world_, on_device(), by_nvshmem());
    EXPECT_EQ(first_leg(first).exchange, "nvshmem");
    EXPECT_TRUE(design_of(first).memory.staged.empty());
    EXPECT_NE(first_leg(Plan(world_, on_device())).exchange, "nvshmem");
  }
  {
    const Reversed reversed;
    const Comm comm = Comm::mpi(reversed.comm);
    Plan plan(comm, on_device(), by_nvshmem());
    forward(comm, plan);
  }
  const Comm alone = Comm::mpi(MPI_COMM_SELF);
  expect_error([&] { const Plan plan(alone, on_device(), by_nvshmem()); },
               "NVSHMEM is initialised in groups of " + std::to_string(world_.size()));
  Problem host = on_device();
  host.memory = MemoryKind::host;
  expect_error([&] { const Plan plan(world_, host, by_nvshmem()); }, "nvshmem\" with arrays on the host");
  expect_error([&] { const Plan plan(world_, on_device(), by_nvshmem().set("workspace", "user")); },
               "nvshmem\" with workspace given by the user");
  expect_error([&] { const Plan plan(world_, on_device(), by_nvshmem().set("graph", "on")); },
               "on with exchange nvshmem");
}

TEST_F(DeviceNvshmem, ServesOneOfTwoReshapes) {
  Problem p = on_device();
  p.output = Distribution::slab(0);
  for (const char* exchange : {"nvshmem,p2p", "p2p,nvshmem"}) {
    Plan plan(world_, p, Options().set("exchange", exchange));
    forward(world_, plan);
  }
  expect_error([&] { const Plan plan(world_, p, Options().set("exchange", "direct,nvshmem")); },
               "one exchange that lays the workspace");
}

TEST_F(DeviceNvshmem, IsRefusedAmongThreads) {
  ThreadTeam(2).run([&](const Comm& comm) {
    ScopedDevices::choose(comm.rank() % ScopedDevices::count());
    expect_error([&] { const Plan plan(comm, on_device(), by_nvshmem()); },
                 "\"nvshmem\" among ranks of medium threads");
  });
}

TEST_F(DeviceNvshmem, MemoryOfPlansThatNoRankHasIsGivenBack) {
  if (!ScopedDevices::are_on_host()) GTEST_SKIP() << "nobody counts allocations here";
  auto first = std::make_unique<Plan>(world_, on_device(), by_nvshmem());
  auto second = std::make_unique<Plan>(world_, on_device(), by_nvshmem());
  const std::size_t two = nvshmem_double_blocks();
  if (world_.rank() == 0) {
    first.reset();
    second.reset();
  } else {
    second.reset();
    first.reset();
  }
  const Plan third(world_, on_device(), by_nvshmem());
  EXPECT_EQ(nvshmem_double_blocks(), two - 1);
}

TEST_F(DeviceNvshmem, TooLittleMemoryIsAnErrorOnAllRanks) {
  if (!ScopedDevices::are_on_host()) GTEST_SKIP() << "there is enough";
  Problem large = on_device();
  large.shape = {128, 128, 128};
  const std::size_t room = DevicesManner{}.room;
  const std::size_t used = room - static_cast<std::size_t>(current_device()->free_bytes());
  enter({.processes = true, .room = used + (std::size_t{10} << 20)});
  expect_error([&] { const Plan plan(world_, large, by_nvshmem()); }, "in NVSHMEM's heap");
}

TEST_F(DeviceNvshmem, ARankThatFailsLeavesNobodyWaiting) {
  for (int at = 0; at < 6; ++at) {
    std::atomic<int> armed{at};
    TestHook hook;
    hook.at_point = [&](const char* point, int rank) {
      if (std::string(point) == "op" && rank == 1 && armed >= 0 && armed-- == 0)
        throw Error("test", "broken on purpose", "");
    };
    {
      const Comm comm = Comm::mpi(MPI_COMM_WORLD);
      Plan plan(comm, on_device(), by_nvshmem());
      std::string told;
      {
        const ScopedTestHook scope(hook);
        try {
          forward(comm, plan);
        } catch (const std::exception& e) {
          told = e.what();
        }
      }
      if (comm.rank() == 1) {
        EXPECT_NE(told.find("broken on purpose"), std::string::npos) << at;
      } else if (at == 0 || !told.empty()) {  // what it has done before may be all that they wait for
        EXPECT_NE(told.find("has failed in the middle"), std::string::npos) << told;
      }
    }
    const Comm comm = Comm::mpi(MPI_COMM_WORLD);
    Plan after(comm, on_device(), by_nvshmem());
    forward(comm, after);
  }
}

}  // namespace weft::test
