// Memory that runs out, and a rank that fails in the middle, among MPI ranks with arrays in device memory:
// processes have memory of each other's.
#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/test_hook.hpp"
#include "support/device_kinds.hpp"
#include "support/device_mirror.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/scarce_devices.hpp"
#include "transport/peer/peer_memory.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

/// What others have let go of is given back.
std::pair<DevicesInUse, long> in_use(const Comm& comm) {
  comm.barrier();
  PeerMemory::give_back();
  return {ScarceDevices::in_use(), ScopedDevices::objects()};
}

}  // namespace

TEST(DeviceScarcity, AtAnyMomentOfPlanningIsToldOnAllMpiRanks) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const std::vector<DeviceKind> kinds = mpi_device_kinds(comm.size());
  const ScopedDevices devices({.processes = true});
  const ScarceDevices scarce;
  for (const DeviceKind& kind : kinds) {
    SCOPED_TRACE(kind.name);
    ScopedDevices::choose(comm.rank() % kind.devices);
    const HostAnswer answer = answer_on_host(comm, kind.problem);
    execute(comm, kind, answer);
    const auto before = in_use(comm);
    const int step = moments_apart();
    int moment = 0;
    for (bool refused = true; refused; moment += step) {
      SCOPED_TRACE(moment);
      Refusals refusals(moment);
      std::string error;
      try {
        std::optional<ScopedRefusals> scoped;
        if (comm.rank() == comm.size() - 1) scoped.emplace(refusals);
        const Plan plan(comm, kind.problem, kind.options);
      } catch (const Error& e) {
        error = e.what();
      }
      refused = comm.impl().least(-refusals.refused()) < 0;
      EXPECT_EQ(comm.impl().broadcast(error, 0), error);
      EXPECT_EQ(says_no_memory(error), refused) << error;
      EXPECT_EQ(in_use(comm), before);
      execute(comm, kind, answer);
      ASSERT_EQ(comm.impl().least(HasFailure() ? 0 : 1), 1);
    }
    EXPECT_GT(moment, step);
  }
}

TEST(DeviceFailures, AnMpiRankThatFailsInTheMiddleLetsGoOfTheOthers) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const std::vector<DeviceKind> kinds = mpi_device_kinds(comm.size());
  const ScopedDevices devices({.processes = true});
  const ScarceDevices scarce;
  for (const DeviceKind& kind : kinds) {
    if (kind.options.get("exchange") == "alltoallv") continue;  // those who stand in it cannot be told
    SCOPED_TRACE(kind.name);
    ScopedDevices::choose(comm.rank() % kind.devices);
    const HostAnswer answer = answer_on_host(comm, kind.problem);
    for (const int moment : {0, 1, 4}) {
      SCOPED_TRACE(moment);
      {
        DeviceArrays arrays(kind, answer);
        Plan plan(comm, kind.problem, kind.options);
        Refusals full(0, true);  // once the rank fails nothing is to be had any more
        std::optional<ScopedRefusals> scoped;
        int left = moment;
        TestHook hook;
        hook.at_point = [&](const char* point, int rank) {
          if (std::string(point) != "op" || rank != 1 || left-- > 0) return;
          if (!scoped) scoped.emplace(full);
          throw Error("test", "broken on purpose", "");
        };
        const ScopedTestHook hooked(hook);
        expect_error(
            [&] {
              for (int i = 0; i < 100; ++i) arrays.forward(plan);
            },
            comm.rank() == 1 ? "broken on purpose" : "failed in the middle");
      }
      comm.barrier();
      execute(comm, kind, answer);
    }
  }
}

/// What codes on a stream tells its failure there.
TEST(DeviceFailures, WhatACodecRefusesIsToldOnceBlockingExchangesAreDone) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const ScopedDevices devices({.processes = true});
  ScopedDevices::choose(comm.rank() % ScopedDevices::count());
  Problem p = device_cube({12, 16, 8});
  p.transforms = {Transform::none, Transform::none, Transform::none};
  Plan plan(comm, p, Options().set("exchange", "alltoallv").set("codec", "fp16"));
  std::vector<std::complex<double>> in(plan.input_count());
  if (comm.rank() == 1) in[0] = std::numeric_limits<double>::max();
  DeviceMirror mirror;
  const auto* const from =
      reinterpret_cast<const std::complex<double>*>(mirror.upload(in.data(), in.size() * sizeof in[0]));
  auto* const to = reinterpret_cast<std::complex<double>*>(mirror.fresh(plan.output_count() * sizeof in[0]));
  expect_error([&] { plan.forward(from, to); },
               comm.rank() == 1 ? "would make infinite" : "rank 1 has failed in the middle");
  comm.barrier();
}

}  // namespace weft::test
