// Memory that runs out while a plan is made, at each moment that there is: every rank is told what for,
// nobody hangs, and everything is given back. And many plans, one after the other, which lose nothing.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/test_hook.hpp"
#include "device/device.hpp"
#include "support/device_kinds.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/random_problem.hpp"
#include "support/says.hpp"
#include "support/scarce_devices.hpp"
#include "support/tuned.hpp"
#include "transport/nccl/library.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

/// Takes all memory of a device but so many bytes, as far as it can be had.
std::vector<std::shared_ptr<std::byte>> fill_up(Device& device, std::size_t left) {
  std::vector<std::shared_ptr<std::byte>> taken;
  const auto excess = [&] { return device.free_bytes() - static_cast<double>(left); };
  for (double part = excess(); part >= 1 << 20; part /= 2) try {
      while (excess() >= part) taken.push_back(device.allocate(static_cast<std::size_t>(part), "test"));
    } catch (const Error&) {
      continue;  // not in one piece
    }
  return taken;
}

/// Thread ranks that make plans of one kind.
class Ranks {
 public:
  explicit Ranks(const DeviceKind& kind)
      : kind_(kind), team_(kind.ranks), answers_(static_cast<std::size_t>(kind.ranks)) {
    team_.run([&](const Comm& comm) { answer(comm) = answer_on_host(comm, kind_.problem); });
  }

  /// A plan that may fail, on all ranks or on none, and perhaps one behind it, which may not.
  void plan(Refusals& refusals, const std::set<int>& subject, bool twice = true) {
    const auto before = in_use();
    std::vector<std::string> errors(answers_.size());
    team_.run([&](const Comm& comm) {
      ScopedDevices::choose(comm.rank() % kind_.devices);
      try {
        DeviceArrays arrays(kind_, answer(comm));
        std::optional<ScopedRefusals> scoped;
        if (subject.contains(comm.rank())) scoped.emplace(refusals);
        Plan plan(comm, kind_.problem, kind_.options);
        scoped.reset();
        arrays.forward(plan);
        arrays.expect_answer();
      } catch (const Error& e) {
        errors[static_cast<std::size_t>(comm.rank())] = e.what();
      }
      if (twice) test::execute(comm, kind_, answer(comm));
    });
    EXPECT_EQ(in_use(), before);
    for (const std::string& e : errors) EXPECT_EQ(e, errors.front());
    if (errors.front().empty()) return;
    EXPECT_GT(refusals.refused(), 0);
    EXPECT_TRUE(says_no_memory(errors.front())) << errors.front();
  }

  /// After so many operations of rank 1 nothing more is to be had from any device, and the rank fails.
  void fail_in_the_middle(int moment) {
    const auto before = in_use();
    Refusals refusals(std::numeric_limits<int>::max(), true);
    std::atomic<int> left{-1};  // negative: the rank does not fail
    TestHook hook;
    hook.at_point = [&](const char* point, int rank) {
      const std::string name = point;
      if ((name != "op" && name != "launch") || rank != 1 || left < 0 || left-- > 0) return;
      refusals.begin();
      throw Error("test", "broken on purpose", "");
    };
    const ScopedTestHook scoped(hook);
    std::atomic<int> failures{0};
    expect_error(
        [&] {
          team_.run([&](const Comm& comm) {
            ScopedDevices::choose(comm.rank() % kind_.devices);
            DeviceArrays arrays(kind_, answer(comm));
            Plan plan(comm, kind_.problem, kind_.options);
            comm.barrier();
            if (comm.rank() == 1) left = moment;
            comm.barrier();
            const ScopedRefusals full(refusals);
            try {
              for (int i = 0; i < 100; ++i) arrays.forward(plan);
            } catch (const Error& e) {
              ++failures;
              EXPECT_TRUE(says(e.what(), "broken on purpose") || says(e.what(), "has failed in the middle"));
              throw;
            }
          });
        },
        "broken on purpose");
    EXPECT_EQ(failures, kind_.ranks);
    execute();
    EXPECT_EQ(in_use(), before);
  }

  void execute() {
    team_.run([&](const Comm& comm) {
      ScopedDevices::choose(comm.rank() % kind_.devices);
      test::execute(comm, kind_, answer(comm));
    });
  }

  /// While the device of rank 0 has so many bytes left.
  void plan_on_full_device(std::size_t left) {
    team_.run([&](const Comm& comm) {
      ScopedDevices::choose(comm.rank() % kind_.devices);
      const std::shared_ptr<Device> device = current_device();
      const DeviceScope scope(*device);
      const double before = device->free_bytes();
      {
        std::vector<std::shared_ptr<std::byte>> taken;
        if (comm.rank() == 0) taken = fill_up(*device, left);
        comm.barrier();
        expect_error([&] { const Plan plan(comm, kind_.problem, kind_.options); }, " memory");
        comm.barrier();
      }
      EXPECT_GE(device->free_bytes(), before - ScopedDevices::kept());
      comm.barrier();
    });
  }

  static std::pair<DevicesInUse, long> in_use() {
    return {ScarceDevices::in_use(), ScopedDevices::objects()};
  }

 private:
  HostAnswer& answer(const Comm& comm) { return answers_[static_cast<std::size_t>(comm.rank())]; }

  const DeviceKind& kind_;
  ThreadTeam team_;
  std::vector<HostAnswer> answers_;
};

template <class Test>
void for_each_kind(bool ordered, const Test& test) {
  for (std::size_t number = 0;; ++number) {
    const std::vector<DeviceKind> all = thread_device_kinds();
    if (number >= all.size() || testing::Test::HasFailure()) return;
    const DeviceKind& kind = all[number];
    SCOPED_TRACE(kind.name);
    const ScopedDevices devices({.ordered = ordered, .reach = ScopedDevices::reach_of(kind.reach)});
    const ScarceDevices scarce;
    test(kind, number);
    std::filesystem::remove(trace_of_device_kinds());
  }
}

}  // namespace

TEST(DeviceScarcity, AtAnyMomentOfPlanningIsToldOnAllRanksAndLeavesNothing) {
  for_each_kind(true, [](const DeviceKind& kind, std::size_t number) {
    Ranks ranks(kind);
    // One request of the last rank, or all of one device from some moment on.
    std::set<int> sharers;
    for (int r = 0; r < kind.ranks; r += kind.devices) sharers.insert(r);
    for (const bool lasting : {false, true}) {
      const int step = (lasting ? 8 : 1) * moments_apart();
      int moment = static_cast<int>(number) % step;
      for (int refused = 1; refused > 0; moment += step) {
        SCOPED_TRACE(std::to_string(moment) + (lasting ? " and later" : ""));
        Refusals refusals(moment, lasting);
        ranks.plan(refusals, lasting ? sharers : std::set{kind.ranks - 1});
        refused = refusals.refused();
        if (testing::Test::HasFailure()) return;
      }
      EXPECT_GT(moment, step);
    }
  });
}

TEST(DeviceScarcity, WhileTryingIsToldOnAllRanksOrAnotherPlanIsMade) {
  const ScopedDevices devices;
  const ScarceDevices scarce;
  forget_wisdom();
  const int count = std::min(2, ScopedDevices::count());
  const DeviceKind kind{"tuned", 2, count, device_cube({8, 10, 6}), quick("measure", "", 2), 0, 0};
  Ranks ranks(kind);
  int moments = 0;
  const int step = moments_apart();
  for (int moment = 0, refused = 1; refused > 0; moment += step, ++moments) {
    SCOPED_TRACE(moment);
    forget_wisdom();
    Refusals refusals(moment);
    ranks.plan(refusals, {1});
    refused = refusals.refused();
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_GT(moments, 3);
  forget_wisdom();
}

/// Communicators are made once and kept: of so many ranks no other test has one.
TEST(DeviceScarcity, WhileNcclStartsIsToldOnAllRanks) {
  const ScopedDevices devices;
  const ScarceDevices scarce;
  if (!nccl::missing().empty()) GTEST_SKIP() << nccl::missing();
  if (ScopedDevices::count() < 7) GTEST_SKIP() << "too few devices";
  const DeviceKind kind{"nccl", 7, 7, device_cube({7, 7, 4}), device_exchange("nccl")};
  Ranks ranks(kind);
  int moment = 0;
  for (int refused = 1; refused > 0; ++moment) {
    SCOPED_TRACE(moment);
    Refusals refusals(moment);
    ranks.plan(refusals, {3}, false);
    refused = refusals.refused();
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_GT(moment, 10);
}

TEST(DeviceScarcity, OfWhatNotesTimesLeavesThePlanAsItWas) {
  const ScopedDevices devices;
  const ScarceDevices scarce;
  ScopedDevices::choose(0);
  const DeviceKind kind{"noted", 1, 1, device_cube({10, 6, 8}), Options()};
  const HostAnswer answer = answer_on_host(Comm::self(), kind.problem);
  int moment = 0;
  for (int refused = 1; refused > 0; ++moment) {
    SCOPED_TRACE(moment);
    DeviceArrays arrays(kind, answer);
    Plan plan(Comm::self(), kind.problem, kind.options);
    Refusals refusals(moment);
    {
      const ScopedRefusals scoped(refusals);
      try {
        plan.record_times(true);
      } catch (const Error& e) {
        EXPECT_TRUE(says(e.what(), ": out of memory"));
      }
    }
    refused = refusals.refused();
    arrays.forward(plan);
    arrays.expect_answer();
    plan.record_times(true);
    arrays.forward(plan);
    EXPECT_FALSE(plan.operation_times().empty());
  }
  EXPECT_GT(moment, 4);
}

TEST(DeviceScarcity, AFullDeviceKeepsNoRankFromTellingThatItHasFailed) {
  // Streams that have been let go run over each other's data.
  for_each_kind(false, [](const DeviceKind& kind, std::size_t) {
    if (kind.ranks == 1) return;
    Ranks ranks(kind);
    for (const int moment : {0, 1, 3}) {
      SCOPED_TRACE(moment);
      ranks.fail_in_the_middle(moment);
    }
  });
}

TEST(DeviceScarcity, OnADeviceThatIsNearlyFullIsToldOnAllRanks) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  const ScopedDevices devices({.room = 12 * mib});
  const ScarceDevices scarce;
  if (ScopedDevices::count() < 2) GTEST_SKIP() << "one device";
  const bool on_host = ScopedDevices::are_on_host();
  const Index n = on_host ? 48 : 256;  // a box is a MiB, or 128
  for (const char* exchange_name : {"direct", "copy"}) {
    SCOPED_TRACE(exchange_name);
    const DeviceKind kind{exchange_name, 2, 2, device_cube({n, n, n}), device_exchange(exchange_name)};
    Ranks ranks(kind);
    ranks.execute();
    for (const std::size_t left : {0, 1, 2, 4, 8, 16, 32, 64}) {
      if (on_host && left > 1) break;
      SCOPED_TRACE(std::to_string(left) + " MiB are left");
      ranks.plan_on_full_device(left * mib);
    }
    ranks.execute();
  }
}

namespace {

/// Bytes of the C library's memory that are in use, of all its arenas; 0 with a library that does not tell,
/// or with that of a sanitizer.
double host_bytes() {
#if defined(__GLIBC__) && !defined(WEFT_SANITIZES_ADDRESSES) && !defined(WEFT_SANITIZES_THREADS)
  char* text = nullptr;
  std::size_t length = 0;
  std::FILE* const file = open_memstream(&text, &length);
  malloc_info(0, file);
  std::fclose(file);
  const std::string all(text, length);
  std::free(text);
  // Of all arenas: behind those of each.
  const auto size = [&](const std::string& what) {
    const std::size_t at = all.find("size=\"", all.rfind(what));
    return std::stod(all.substr(at + 6));
  };
  return size("<system type=\"current\"") + size("<total type=\"mmap\"") - size("<total type=\"fast\"") -
         size("<total type=\"rest\"");
#else
  return 0;
#endif
}

double free_on_devices() {
  double bytes = 0;
  for (int d = 0; d < std::min(4, ScopedDevices::count()); ++d) {
    ScopedDevices::choose(d);
    const std::shared_ptr<Device> device = current_device();
    const DeviceScope scope(*device);
    bytes += device->free_bytes();
  }
  return bytes;
}

}  // namespace

TEST(DevicePlansInTurn, LoseNothing) {
  const std::vector<DeviceKind> all = thread_device_kinds();
  const ScopedDevices devices;
  const ScarceDevices scarce;
  std::deque<Ranks> ranks;
  for (const DeviceKind& kind : all) ranks.emplace_back(kind);
  // Every seventh is not made for want of memory, which varies with the kind and the moment.
  const auto make = [&](int plans) {
    for (int i = 0; i < plans; ++i) {
      const auto kind = static_cast<std::size_t>(i) % all.size();
      if (i % 7 == 6) {
        Refusals refusals(i % 16);
        ranks[kind].plan(refusals, {0});
      } else {
        ranks[kind].execute();
      }
    }
  };
  make(static_cast<int>(7 * all.size()));  // what is made once stays, as kernels of libraries do
  const auto before = Ranks::in_use();
  const double free = free_on_devices(), host = host_bytes();
  const int count = problem_count(120);
  make(count);
  EXPECT_EQ(Ranks::in_use(), before);
  EXPECT_GE(free_on_devices(), free - ScopedDevices::kept());
  // What is kept without end, such as plans of local FFTs, is not per plan.
  EXPECT_LE(host_bytes() - host, (1 << 18) + 64.0 * count + ScopedDevices::kept());
  std::filesystem::remove(trace_of_device_kinds());
}

}  // namespace weft::test
