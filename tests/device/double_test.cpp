// What only the double of the device seam can show: devices that do not reach each other, a machine without
// NCCL, and how often communicators are made.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <complex>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/numa/map.hpp"
#include "base/test_hook.hpp"
#include "device/device.hpp"
#include "fft/calls/line_ways.hpp"
#include "model/machine_json.hpp"
#include "support/described_machine.hpp"
#include "support/design_of.hpp"
#include "support/device_double.hpp"
#include "support/device_mirror.hpp"
#include "support/device_problem.hpp"
#include "support/double_memory.hpp"
#include "support/expect_error.hpp"
#include "support/memory_policy.hpp"
#include "support/nccl_double.hpp"
#include "support/scoped_variable.hpp"
#include "support/tuned.hpp"
#include "tune/machine.hpp"
#include "tune/wisdom_store.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

/// Trials try NCCL where it is there: not the one of this machine.
struct ScopedNcclDouble {
  ScopedNcclDouble() { nccl::replace_functions(&nccl_double()); }
  ~ScopedNcclDouble() { nccl::replace_functions(nullptr); }
  ScopedNcclDouble(const ScopedNcclDouble&) = delete;
  ScopedNcclDouble& operator=(const ScopedNcclDouble&) = delete;
};

/// How often this thread has asked for pinned memory that is to come from NUMA node 0.
thread_local int pinned_by_node = 0;

}  // namespace

/// Of two devices on two NUMA nodes, of which the second's is not known.
TEST(DeviceDouble, PinnedMemoryIsOnTheNodeOfTheDevice) {
  if (!may_set_memory_policy()) GTEST_SKIP() << "no right to place memory";
  DoubleManner manner;
  manner.reach = 1;  // so that parts go through the host
  manner.pins = [] { pinned_by_node += memory_policy() == std::pair(int{MPOL_PREFERRED}, 1UL) ? 1 : 0; };
  const ScopedDeviceDouble devices(manner);
  const numa::Map machine{{{0, {0}}, {1, {1}}}, {}, {{"0000:00:00.0", 0}}};
  const auto counts = [] {
    std::array<int, 2> of_ranks{};
    ThreadTeam(2).run([&](const Comm& comm) {
      set_double_device(comm.rank());
      const int before = pinned_by_node;
      const Plan plan(comm, on_device());
      EXPECT_EQ(plan.to_string().find("pinned memory on NUMA node 0,") != std::string::npos,
                numa::of_machine().has_several() && comm.rank() == 0);
      of_ranks[static_cast<std::size_t>(comm.rank())] = pinned_by_node - before;
      EXPECT_EQ(memory_policy().first, MPOL_DEFAULT);
    });
    return of_ranks;
  };
  EXPECT_EQ(counts(), (std::array{0, 0}));
  const ScopedSwitch<const numa::Map*> pretended(numa::detail::pretended_machine, &machine);
  EXPECT_EQ(counts(), (std::array{1, 0}));
}

TEST(DeviceDouble, WhoDoesNotReachWhomIsPrinted) {
  DoubleManner manner;
  manner.reach = 1;
  const ScopedDeviceDouble devices(manner);
  ThreadTeam(3).run([](const Comm& comm) {
    set_double_device(comm.rank() == 0 ? 0 : comm.rank() + 4);
    const Plan apart(comm, on_device());
    EXPECT_EQ(first_leg(apart).exchange, "copy");
    EXPECT_EQ(design_of(apart).memory.staged, std::vector<std::string>{"copy"});
    EXPECT_EQ(setting_of(apart).devices->islands.of, (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(
        first_leg(apart).exchange_reason,
        "auto: it serves these ranks; not direct: devices of ranks 0 and 1, double (device 0) and double "
        "(device 5), do not reach each other; through pinned memory");
    expect_error([&] { const Plan plan(comm, on_device(), Options().set("exchange", "direct")); },
                 "among GPUs that do not reach each other");
    set_double_device(0);
    EXPECT_TRUE(says(first_leg(Plan(comm, on_device())).exchange_reason,
                     "; not direct: threads of one process that share a device; through pinned memory"));
  });
}

TEST(DeviceDouble, PairsThatDoNotReachEachOtherExchangeThroughPinnedMemory) {
  DoubleManner manner;
  manner.reach = 2;
  const ScopedDeviceDouble devices(manner);
  ThreadTeam(4).run([&](const Comm& comm) {
    set_double_device(comm.rank());
    for (const char* exchange : {"auto", "direct"}) {
      const Plan plan(comm, on_device(), Options().set("exchange", exchange));
      EXPECT_TRUE(first_leg(plan).traits.stores);
      EXPECT_EQ(first_leg(plan).store_lane, Lane::compute);
      EXPECT_EQ(design_of(plan).memory.far, "copy");
      EXPECT_EQ(setting_of(plan).devices->islands.of, (std::vector<int>{0, 0, 2, 2}));
    }
    // The first and the last share a device.
    set_double_device(comm.rank() % 3 + (comm.rank() % 3 == 0 ? 0 : 3));
    const Plan shared(comm, on_device());
    EXPECT_EQ(design_of(shared).memory.far, "copy");
    EXPECT_EQ(setting_of(shared).devices->islands.of, (std::vector<int>{0, 1, 1, 3}));
    EXPECT_FALSE(setting_of(shared).devices->own_devices());
  });
}

TEST(DeviceDouble, WisdomOfOneModelIsNotAnothers) {
  forget_wisdom();
  const ScopedNcclDouble nccl;
  ThreadTeam team(2);
  const auto found = [&](const char* model, int devices, const char* effort) {
    DoubleManner manner;
    manner.model = model;
    const ScopedDeviceDouble doubles(manner);
    const auto enter = [&](int rank) { set_double_device(rank % devices); };
    return record(team, on_device(), quick(effort), enter).learnt.origin;
  };
  EXPECT_EQ(found("one", 2, "measure"), Origin::trial);
  EXPECT_EQ(found("one", 2, "estimate"), Origin::wisdom);
  EXPECT_EQ(found("one", 1, "estimate"), Origin::rule);  // shared
  EXPECT_EQ(found("another", 2, "estimate"), Origin::rule);
  forget_wisdom();
}

TEST(DeviceDouble, WisdomKnowsTheDescriptionOfAModel) {
  forget_wisdom();
  ThreadTeam team(2);
  const auto choose = [](int rank) { set_double_device(rank); };
  MachineDescription machine = described_machine_with_device();
  machine.device->name = "one";
  team.run([&](const Comm& comm) {
    const Machine here = machine_of(comm.impl(), {});
    if (comm.rank() == 0)
      WisdomStore::of_process().with(
          [&](Wisdom& w) { w.remember_description(here.described("one"), to_json(machine)); });
  });
  const auto is_known = [&](const char* model) {
    DoubleManner manner;
    manner.model = model;
    const ScopedDeviceDouble doubles(manner);
    return record(team, on_device(), {}, choose).learnt.machine.has_value();
  };
  EXPECT_TRUE(is_known("one"));
  EXPECT_FALSE(is_known("another"));
  // Links between devices that reach each other are needed, unless none do.
  std::erase_if(machine.links, [](const LinkDescription& l) { return l.between == over_peer; });
  forget_wisdom();
  WisdomStore::of_process().with(
      [&](Wisdom& w) { w.remember_description(hardware_text() + ", threads 1x2, one", to_json(machine)); });
  EXPECT_FALSE(is_known("one"));
  forget_wisdom();
}

TEST(DeviceDouble, TrialsKeepToTheMemoryOfADeviceAndGiveItBack) {
  using device_double::Memory;
  const ScopedNcclDouble nccl;
  Problem p = on_device();
  p.shape = {64, 64, 8};
  const std::size_t array = 64 * 64 * 8 * 16 / 2;
  for (const std::size_t arrays : {6, 8, 40}) {  // a plan has a few boxes of workspace
    forget_wisdom();
    DoubleManner manner;
    manner.room = arrays * array;
    const ScopedDeviceDouble doubles(manner);
    ThreadTeam(2).run([&](const Comm& comm) {
      set_double_device(comm.rank());
      const std::size_t before = Memory::of_process().used(comm.rank());
      comm.barrier();
      EXPECT_EQ(learnt_of(Plan(comm, p, quick("measure", "", 20))).origin, Origin::trial);
      comm.barrier();
      EXPECT_EQ(Memory::of_process().used(comm.rank()), before);
      comm.barrier();
    });
  }
  forget_wisdom();
}

TEST(DeviceDouble, LocalFftsAreTriedWithinTheMemoryOfADeviceOrNotAtAll) {
  using device_double::Memory;
  // Needs so much work area, and takes as long for many lines as for one: on a busy machine longer than
  // copies of the lines all the same.
  class Call final : public StreamFft {
   public:
    explicit Call(std::size_t bytes) : bytes_(bytes) {}
    std::size_t work_bytes() const override { return bytes_; }
    void enqueue(DeviceStream& stream, std::byte*, std::byte*, std::byte*, const FftContext&) override {
      run_on_double_stream(stream.native(),
                           [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    }

   private:
    std::size_t bytes_;
  };
  // Even, as other tests have odd ones: what was found stays for the life of the process. No length of the
  // kernels, which could be faster still.
  static Index length = 0;
  length += 34;
  CallStep step;
  step.call.axes = 1;
  step.call.n = {length, 0, 0};
  step.call.batch = 20;
  step.call.from = step.call.to = {{length, 0, 0}, 20, 1};
  step.loops = {{300, 20 * length, 20 * length}};
  const auto faster = [&](std::size_t room, std::size_t work_bytes) {
    DoubleManner manner;
    manner.room = room;
    const ScopedDeviceDouble doubles(manner);
    set_double_device(0);
    const auto device = current_device();
    const DeviceScope scope(*device);
    int planned = 0;
    const bool found = fastest_way(*device, step, [&](const CufftCall&) {
                         ++planned;
                         return std::make_shared<Call>(work_bytes);
                       }) == LineWay::aside;
    EXPECT_EQ(Memory::of_process().used(0), 0);
    return std::pair(found, planned);
  };
  constexpr std::size_t mib = 1 << 20;
  // No room for a MiB; room, but not for the work area, which is not remembered; and room.
  EXPECT_EQ(faster(2 * mib, 0), std::pair(false, 0));
  EXPECT_EQ(faster(64 * mib, 64 * mib), std::pair(false, 2));
  EXPECT_EQ(faster(64 * mib, 0), std::pair(true, 2));
  EXPECT_EQ(faster(64 * mib, 0), std::pair(true, 0));
}

TEST(DeviceDouble, WithoutRoomForWhatDepartsThePipelineIsAnother) {
  Problem p = on_device();
  p.shape = {36, 36, 36};
  const std::size_t array = 36 * 36 * 36 * 16 / 2;
  const auto plan = [&](const Comm& comm, const Options& options) {
    return Plan(comm, p, Options(options).set("tile", 4));
  };
  const std::size_t flags = std::size_t{2} << 20;
  // Two arrays, and a workspace of three boxes or of two.
  for (const std::size_t boxes : {5, 4}) {
    DoubleManner manner;
    manner.room = boxes * array + array / 2 + flags;
    const ScopedDeviceDouble doubles(manner);
    ThreadTeam(2).run([&](const Comm& comm) {
      set_double_device(comm.rank());
      {
        const Plan chosen = plan(comm, {});
        EXPECT_EQ(first_leg(chosen).pipeline, boxes == 5 ? "two-front" : "windowed");
        EXPECT_EQ(setting_of(chosen).closed.roomy.starts_with("two-front"), boxes == 4);
      }
      // What was asked for is done where it can be.
      EXPECT_EQ(first_leg(plan(comm, Options().set("pipeline", "planes"))).pipeline, "planes");
    });
  }
  DoubleManner manner;
  manner.room = array;
  const ScopedDeviceDouble doubles(manner);
  ThreadTeam(2).run([&](const Comm& comm) {
    set_double_device(comm.rank());
    expect_error([&] { plan(comm, {}); }, "no memory for");
  });
}

/// A box is half of an array, 4 MiB; a workspace is two of them, and 2 MiB for flags.
TEST(DeviceDouble, APlanThatDoesNotFitSaysWhatWould) {
  const auto expect = [](std::size_t room_mib, std::size_t held_mib, bool in_place, const std::string& text) {
    Problem p = on_device();
    p.shape = {64, 64, 128};
    p.in_place = in_place;
    DoubleManner manner;
    manner.room = room_mib << 20;
    const ScopedDeviceDouble doubles(manner);
    ThreadTeam(2).run([&](const Comm& comm) {
      set_double_device(comm.rank());
      const auto device = current_device();
      const DeviceScope scope(*device);
      const auto held = device->allocate(comm.rank() == 1 ? held_mib << 20 : 0, "test");
      comm.barrier();
      for (const char* exchange : {"direct", "copy"})
        expect_error(
            [&] {
              const Plan plan(comm, p, Options().set("pipeline", "windowed").set("exchange", exchange));
            },
            "fewer points per rank; " + text);
      comm.barrier();
    });
  };
  const std::string needed = "workspace and arrays take 18.00 MiB on each of 2 ranks, ";
  expect(8, 0, false, needed + "and would fit on 5 with a device each (rank 0)");
  expect(16, 8, false, needed + "and would fit on 3 with a device each, or in place on these (rank 1)");
  expect(20, 12, false, needed + "which fits once other memory of the device is given back (rank 1)");
  expect(8, 0, true,
         "workspace and arrays take 14.00 MiB on each of 2 ranks, and would fit on 4 with a device each");
}

namespace {
thread_local std::vector<std::string> ranges_begun;
thread_local int ranges_open = 0;
}  // namespace

TEST(DeviceDouble, PlanningAndExecutionsAreRangesOfProfilers) {
  DoubleManner manner;
  manner.range = [](const char* name) {
    ranges_open += name != nullptr ? 1 : -1;
    if (name != nullptr) ranges_begun.emplace_back(name);
  };
  const ScopedDeviceDouble devices(manner);
  set_double_device(0);
  ranges_begun.clear();
  Plan plan(Comm::self(), on_device());
  DeviceMirror mirror;
  plan.set_stream(static_cast<CUstream_st*>(mirror.stream().native()));
  auto* in = reinterpret_cast<std::complex<double>*>(mirror.fresh(plan.input_count() * 16));
  auto* out = reinterpret_cast<std::complex<double>*>(mirror.fresh(plan.output_count() * 16));
  plan.forward(in, out);
  plan.start_backward(out, in);
  plan.wait();
  const auto begun = [&](const char* name) {
    return std::count(ranges_begun.begin(), ranges_begun.end(), name);
  };
  EXPECT_EQ(begun("weft plan 16x12x8"), 1);
  EXPECT_EQ(begun("weft forward 16x12x8"), 1);
  EXPECT_EQ(begun("weft backward 16x12x8"), 2);  // one to start it, one to wait
  EXPECT_GE(begun("fft"), 2);
  EXPECT_EQ(ranges_open, 0);
}

TEST(DeviceDouble, WithoutNcclItIsAClearErrorOnAllRanks) {
  const ScopedVariable variable("WEFT_NCCL_LIBRARY", "/no/such/library");
  const ScopedDeviceDouble devices;
  ThreadTeam(2).run([](const Comm& comm) {
    set_double_device(comm.rank());
    expect_error([&] { const Plan plan(comm, on_device(), Options().set("exchange", "nccl")); },
                 "\"nccl\": /no/such/library");
    const Plan after(comm, on_device());
  });
}

TEST(DeviceDouble, QueuesAreStillAtWorkWhenAnotherDoubleBegins) {
  std::atomic<int> done{0};
  for (int i = 0; i < 100; ++i) {
    DoubleManner manner;
    manner.delays = i % 2 == 0;
    const ScopedDeviceDouble devices(manner);
    set_double_device(0);
    run_on_double_stream(current_device()->borrow_stream(nullptr)->native(), [&] { ++done; });
  }
  while (done < 100) std::this_thread::yield();
}

TEST(DeviceDouble, CapturesDoWhatTheyWereToldAndNothingElse) {
  const ScopedDeviceDouble devices;
  set_double_device(0);
  const std::shared_ptr<Device> device = current_device();
  const DeviceScope scope(*device);
  const auto origin = device->make_stream(), other = device->make_stream();
  const auto there = device->make_event(false), back = device->make_event(false);
  const std::shared_ptr<std::byte> memory = device->allocate(256, "test");
  const auto fill = [&](unsigned char value) {
    DeviceCapture capture(*origin);
    origin->fill(memory.get(), value, 2);
    origin->record(*there);
    other->wait(*there);
    other->fill(memory.get(), static_cast<unsigned char>(value + 1), 1);
    other->record(*back);
    origin->wait(*back);
    return capture.end();
  };
  const auto launch = [&](DeviceGraph& graph) {
    graph.launch(*origin);
    origin->record(*back);
    device->wait_for(*back);
    return static_cast<int>(memory.get()[0]) * 256 + static_cast<int>(memory.get()[1]);
  };
  origin->fill(memory.get(), 9, 2);
  const std::unique_ptr<DeviceGraph> graph = fill(1);
  origin->record(*back);
  device->wait_for(*back);
  EXPECT_EQ(static_cast<int>(memory.get()[0]), 9);  // captured, not done
  EXPECT_EQ(launch(*graph), 0x201);
  EXPECT_TRUE(graph->update(*fill(4)));
  EXPECT_EQ(launch(*graph), 0x504);
  {
    DeviceCapture capture(*origin);
    EXPECT_FALSE(graph->update(*capture.end()));
  }
  EXPECT_EQ(launch(*graph), 0x504);
}

TEST(DeviceDouble, CapturesRefuseWhatAGpuWould) {
  const ScopedDeviceDouble devices;
  set_double_device(0);
  const std::shared_ptr<Device> device = current_device();
  const DeviceScope scope(*device);
  const auto origin = device->make_stream(), other = device->make_stream();
  const auto outside = device->make_event(false), inside = device->make_event(false);
  other->record(*outside);
  expect_error([&] { const DeviceCapture c(*device->borrow_stream(nullptr)); }, "somebody else's");
  {
    DeviceCapture capture(*origin);
    expect_error([&] { device->allocate(1, "test"); }, "during a capture");
    expect_error([&] { device->passed(*outside); }, "during a capture");
    expect_error([&] { origin->wait(*outside); }, "for an event outside");
    origin->record(*inside);
    expect_error([&] { device->borrow_stream(nullptr)->wait(*inside); }, "somebody else's");
    other->wait(*inside);
    expect_error([&] { capture.end(); }, "what is on other streams");
  }
  expect_error([&] { device->passed(*inside); }, "that was captured");
  expect_error([&] { other->wait(*inside); }, "that has ended");
  other->record(*inside);  // both streams are as good as new
  device->wait_for(*inside);
}

TEST(DeviceDouble, CommunicatorsOfNcclAreMadeOncePerSetOfRanks) {
  const ScopedDeviceDouble devices;
  const ScopedNcclDouble nccl;
  const auto plan_some = [] {
    ThreadTeam(2).run([](const Comm& comm) {
      set_double_device(6 + comm.rank());
      for (int i = 0; i < 3; ++i) const Plan plan(comm, on_device(), Options().set("exchange", "nccl"));
    });
  };
  plan_some();
  const int made = nccl_double_made();
  EXPECT_GE(made, 2);
  plan_some();
  EXPECT_EQ(nccl_double_made(), made);
}

TEST(DeviceDouble, WorkspacesAreRegisteredWithNcclAsLongAsTheirPlans) {
  const ScopedDeviceDouble devices;
  nccl::Functions old = nccl_double();
  old.register_memory = nullptr;  // as before 2.19
  for (const nccl::Functions* functions : {&nccl_double(), static_cast<const nccl::Functions*>(&old)}) {
    nccl::replace_functions(functions);
    const bool registers = functions->registers();
    ThreadTeam(2).run([&](const Comm& comm) {
      set_double_device(6 + comm.rank());
      const Options options = Options().set("exchange", "nccl");
      const Plan plan(comm, on_device(), options);
      EXPECT_TRUE(says(plan.to_string(), registers ? "exchange nccl between registered workspaces"
                                                   : "exchange nccl through buffers of its own"));
      comm.barrier();
      EXPECT_EQ(nccl_double_registered(), registers ? 2 : 0);
      EXPECT_EQ(nccl_double_blocks(), registers ? 2 : 0);
      comm.barrier();
    });
    EXPECT_EQ(nccl_double_registered(), 0);
    EXPECT_EQ(nccl_double_blocks(), 0);
  }
  nccl::replace_functions(nullptr);
}

TEST(DeviceDouble, ARankThatCannotRegisterWithNcclLeavesNobodyWaiting) {
  const ScopedDeviceDouble devices;
  const ScopedNcclDouble nccl;
  ThreadTeam team(2);
  const auto make = [](const Comm& comm) {
    set_double_device(6 + comm.rank());
    const Plan plan(comm, on_device(), Options().set("exchange", "nccl"));
  };
  TestHook hook;
  hook.at_point = [](const char* point, int rank) {
    if (std::string(point) == "nccl: registering" && rank == 1) throw Error("test", "out of luck", "");
  };
  {
    const ScopedTestHook scoped(hook);
    team.run([&](const Comm& comm) { expect_error([&] { make(comm); }, "out of luck (rank 1)"); });
  }
  EXPECT_EQ(nccl_double_registered(), 0);
  EXPECT_EQ(nccl_double_blocks(), 0);
  team.run(make);
}

TEST(DeviceDouble, ARankThatCannotStartNcclLeavesNobodyWaiting) {
  const ScopedDeviceDouble devices;
  const ScopedNcclDouble nccl;
  const auto make = [](const Comm& comm) {
    set_double_device(3 + comm.rank());
    const Plan plan(comm, on_device(), Options().set("exchange", "nccl"));
  };
  ThreadTeam team(2);
  {
    TestHook hook;  // before it meets the others in NCCL
    hook.at_point = [](const char* point, int rank) {
      if (std::string(point) == "nccl" && rank == 1) throw Error("test", "out of luck", "");
    };
    const ScopedTestHook scoped(hook);
    const int made = nccl_double_made();
    team.run([&](const Comm& comm) { expect_error([&] { make(comm); }, "out of luck (rank 1)"); });
    EXPECT_EQ(nccl_double_made(), made);
  }
  {
    const ScopedSwitch failure(nccl_double_failing_rank, 1);  // behind that
    team.run([&](const Comm& comm) {
      expect_error([&] { make(comm); }, "the first messages: an error of the double (2)");
    });
  }
  team.run(make);
}

}  // namespace weft::test
