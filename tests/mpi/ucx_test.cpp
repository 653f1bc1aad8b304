// Exchange ucx: over the memory of a machine, and over the loopback device where every rank is taken for a
// machine of its own; what goes wrong is an error on all ranks.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/online.hpp"
#include "base/numa/binding.hpp"
#include "base/test_hook.hpp"
#include "base/timing.hpp"
#include "comm/comm_impl.hpp"
#include "kernels/cpu/zfp.hpp"
#include "support/design_of.hpp"
#include "support/expect_error.hpp"
#include "support/has_exchange.hpp"
#include "support/one_rank_fails.hpp"
#include "support/says.hpp"
#include "support/scoped_variable.hpp"
#include "transport/ucx/devices.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

/// Uneven parts, two reshapes in each direction.
Problem natural(const Shape& shape, Precision precision) {
  Problem p;
  p.shape = shape;
  p.output = Distribution::slab(0);
  p.precision = precision;
  return p;
}

/// Forward and backward of values that differ from point to point, on this rank.
template <class T>
std::vector<std::complex<T>> results(const Comm& comm, const Problem& problem, const Options& options,
                                     int executions = 1) {
  Plan plan(comm, problem, options);
  Buffer<std::complex<T>> in(plan.input_count()), out(plan.output_count()), back(plan.input_count());
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = std::polar<T>(1, static_cast<T>(0.7 * static_cast<double>(i * i % 1009) + comm.rank()));
  for (int i = 0; i < executions; ++i) {
    plan.forward(in.data(), out.data());
    plan.backward(out.data(), back.data());
  }
  std::vector<std::complex<T>> all(out.begin(), out.end());
  all.insert(all.end(), back.begin(), back.end());
  return all;
}

}  // namespace

#ifdef WEFT_WITH_UCX

namespace {

class Ucx : public testing::Test {
 protected:
  void SetUp() override {
    if (comm_.size() == 1) GTEST_SKIP() << "one rank sends nothing";
    if (const std::string why = why_no_exchange(comm_, "ucx"); !why.empty()) GTEST_SKIP() << why;
  }
  /// The same ranks, each on a machine of its own.
  static Comm apart() {
    const ScopedSwitch machines(detail::pretended_ranks_per_node, 1);
    return Comm::mpi(MPI_COMM_WORLD);
  }

  Comm comm_ = Comm::mpi(MPI_COMM_WORLD);
  Options ucx_ = Options().set("exchange", "ucx"), lo_ = Options(ucx_).set("rails", "lo");
};

/// Loopback, and what else UCX has here: two rails, or one.
std::string two_rails() {
  std::string names = "lo";
  for (const ucx::NetDevice& d : ucx::network_devices())
    if (d.name != "lo" && names == "lo") names += "," + d.name;
  return names;
}

}  // namespace

/// Which begins no execution, and says nothing of what it took.
TEST_F(Ucx, ARankWithoutPointsIsNotWaitedFor) {
  const Comm machines = apart();
  Problem p = natural({1, 2, 18}, Precision::float64);  // a third rank has none on either side
  p.output = Distribution::slab(1);
  const Options slabs = Options().set("decomposition", "slab").set("layout", "contiguous");
  const Options o = Options(slabs).set("exchange", "ucx").set("rails", two_rails());
  EXPECT_EQ(results<double>(machines, p, o, 5),
            results<double>(machines, p, Options(slabs).set("exchange", "p2p")));
}

/// The same bits as p2p in every pipeline, with rails and without, however parts are cut.
TEST_F(Ucx, CarriesEveryPipeline) {
  const Comm machines = apart();
  const Problem p = natural({15, 22, 17}, Precision::float64);
  for (const char* pipeline : {"sequential", "windowed", "planes", "two-front"}) {
    SCOPED_TRACE(pipeline);
    const auto in_pipeline = [&](Options o) {
      return o.set("pipeline", pipeline).set("layout", "contiguous");
    };
    const auto expected = results<double>(machines, p, in_pipeline(Options().set("exchange", "p2p")));
    for (const char* one_sided : {"off", "on"}) {
      SCOPED_TRACE(one_sided);
      const auto sending = [&](const Options& o) { return in_pipeline(o).set("one_sided", one_sided); };
      EXPECT_EQ(results<double>(comm_, p, sending(ucx_), 2), expected);
      for (const auto& [chunk, inflight, barrier] :
           {std::tuple("auto", "4", "off"), {"1024", "1", "on"}, {"1500", "3", "on"}, {"4KiB", "2", "off"}}) {
        SCOPED_TRACE(chunk);
        const Options o = Options(lo_).set("chunk", chunk).set("inflight", inflight).set("barrier", barrier);
        EXPECT_EQ(results<double>(machines, p, sending(o), 2), expected);
      }
    }
  }
}

TEST_F(Ucx, TwoRailsShareTheTransfers) {
  const std::string rails = two_rails();
  if (rails == "lo") GTEST_SKIP() << "there is no network device but lo";
  const Comm machines = apart();
  const Problem p = natural({24, 25, 18}, Precision::float32);
  const Options o = Options(ucx_).set("rails", rails).set("chunk", 2048);
  EXPECT_EQ(results<float>(machines, p, o, 3), results<float>(machines, p, Options().set("exchange", "p2p")));
  const Plan plan(machines, p, o);
  EXPECT_TRUE(says(plan.to_string(), "exchange ucx 2 rails: lo (TCP, messages), "));
}

namespace {

/// How often something is put, or registered; and with which number rank 1 cannot register its workspace.
struct PutHook {
  std::atomic<int> puts{0};
  int registered = 0, fails_at = 0;
  ScopedTestHook hook{[this] {
    TestHook h;
    h.at_point = [this](const char* point, int rank) {
      if (std::string(point) == "ucx put") ++puts;
      if (std::string(point) == "ucx register" && ++registered == fails_at && rank == 1)
        throw Error("test", "too little locked memory", "more");
    };
    return h;
  }()};
};

}  // namespace

/// By rule what a device does by itself is put: here none does, unless the test says so. Short transfers are
/// messages also then.
TEST_F(Ucx, PutsWhereTheDeviceDoesThem) {
  for (const char* device : {"lo", ucx::shared_memory}) EXPECT_FALSE(ucx::writes_alone(device));
  const Comm machines = apart();
  const Problem p = natural({32, 32, 60}, Precision::float64);
  const auto expected = results<double>(machines, p, Options().set("exchange", "p2p"));
  const auto puts_of = [&](bool alone, const char* one_sided, const char* chunk, const char* way) {
    const ScopedSwitch writing(ucx::detail::pretended_writing, alone);
    PutHook hook;
    const Options o = Options(lo_).set("one_sided", one_sided).set("chunk", chunk);
    EXPECT_EQ(results<double>(machines, p, o), expected);
    EXPECT_TRUE(says(Plan(machines, p, o).to_string(), std::string("1 rail: lo (TCP, ") + way + ")\n"));
    return hook.puts.load();
  };
  EXPECT_EQ(puts_of(false, "auto", "auto", "messages"), 0);
  EXPECT_EQ(puts_of(true, "off", "auto", "messages"), 0);
  EXPECT_EQ(puts_of(true, "auto", "8KiB", "puts"), 0);
  EXPECT_GT(puts_of(true, "auto", "auto", "puts"), 0);
  EXPECT_GT(puts_of(false, "on", "1024", "puts"), puts_of(false, "on", "auto", "puts"));
}

/// Where one rank cannot register its workspace with a lane, all ranks send messages there, and puts on
/// others.
TEST_F(Ucx, MessagesWhereMemoryIsNotRegistered) {
  const std::string rails = two_rails();
  const Comm machines = apart();
  const Problem p = natural({24, 25, 18}, Precision::float64);
  const Options o = Options(ucx_).set("rails", rails).set("chunk", 2048).set("one_sided", "on");
  const auto expected = results<double>(machines, p, Options().set("exchange", "p2p"));
  const ScopedVariable warnings("WEFT_WARNINGS", "on");
  PutHook hook;
  hook.fails_at = 1;
  testing::internal::CaptureStderr();
  const Plan plan(machines, p, o);
  const std::string warning = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(says(plan.to_string(), "lo (TCP, messages)"));
  if (rails != "lo") {
    EXPECT_TRUE(says(plan.to_string(), "(TCP, puts)"));
  }
  if (comm_.rank() == 0) {
    EXPECT_TRUE(says(warning, "rail lo sends messages, and puts nothing: "));
    EXPECT_TRUE(says(warning, "too little locked memory"));
  }
  hook.registered = 0;
  EXPECT_EQ(results<double>(machines, p, o, 3), expected);
  EXPECT_EQ(hook.puts > 0, rails != "lo");
}

/// It is not known while planning.
TEST_F(Ucx, NothingIsPutIntoWorkspaceOfTheUser) {
  const Problem p = natural({8, 8, 8}, Precision::float64);
  const Options o = Options(ucx_).set("workspace", "user");
  expect_error([&] { const Plan plan(comm_, p, Options(o).set("one_sided", "on")); },
               "plan: option one_sided: on, with workspace of the user");
  EXPECT_TRUE(says(Plan(comm_, p, o).to_string(), "share its memory (messages)"));
}

/// What is registered goes with its plan, and whoever puts there next has the new key.
TEST_F(Ucx, PlansComeAndGoWithTheirRegistrations) {
  const Comm machines = apart();
  const Problem p = natural({8, 12, 6}, Precision::float64);
  const Options o = Options(lo_).set("one_sided", "on");
  const auto expected = results<double>(machines, p, Options().set("exchange", "p2p"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(results<double>(machines, p, o), expected);
}

namespace {

/// The threads of this process that may run on this processor alone.
int threads_bound_to(int processor) {
  int count = 0;
  cpu_set_t wanted, mask;
  CPU_ZERO(&wanted);
  CPU_SET(processor, &wanted);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const pid_t thread = std::stoi(entry.path().filename());
    if (sched_getaffinity(thread, sizeof mask, &mask) == 0 && CPU_EQUAL(&mask, &wanted)) ++count;
  }
  return count;
}

}  // namespace

/// Two NUMA nodes, one of them with the last processor and the network.
TEST_F(Ucx, NumaNodesArePrintedAndTheThreadOfNetworksIsThere) {
  const numa::Processors mine = numa::of_thread();
  const int last = mine.back();
  const numa::Map machine{
      {{0, numa::Processors(mine.begin(), mine.end() - 1)}, {7, {last}}}, {}, {{"lo", 7}}};
  const Problem p = natural({8, 8, 8}, Precision::float64);
  const auto text = [&] { return Plan(apart(), p, lo_).to_string(); };
  EXPECT_TRUE(says(text(), "exchange ucx 1 rail: lo (TCP, messages)\n"));
  const int before = threads_bound_to(last);
  {
    const ScopedSwitch<const numa::Map*> pretended(numa::detail::pretended_machine, &machine);
    EXPECT_TRUE(says(text(), "exchange ucx 1 rail: lo (TCP, messages, NUMA node 7)\n"));
    if (mine.size() > 1) {
      EXPECT_EQ(threads_bound_to(last), before + 1);
    }
    const ScopedVariable off("WEFT_NUMA", "off");
    EXPECT_TRUE(says(text(), "exchange ucx 1 rail: lo (TCP, messages)\n"));
    EXPECT_EQ(threads_bound_to(last), before);
  }
  EXPECT_EQ(numa::of_thread(), mine);
}

/// Parts for ranks of the same machine go through its memory, others by the rail.
TEST_F(Ucx, MachinesOfSeveralRanks) {
  if (comm_.size() < 3) GTEST_SKIP() << "two ranks are one machine, or two";
  const ScopedSwitch two(detail::pretended_ranks_per_node, 2);
  const Comm machines = Comm::mpi(MPI_COMM_WORLD);
  const Problem p = natural({13, 16, 9}, Precision::float64);
  for (const char* barrier : {"on", "off"})
    for (const char* one_sided : {"on", "off"})
      EXPECT_EQ(results<double>(
                    machines, p,
                    Options(lo_).set("barrier", barrier).set("chunk", 1024).set("one_sided", one_sided)),
                results<double>(machines, p, Options().set("exchange", "p2p")));
  EXPECT_TRUE(says(Plan(machines, p, lo_).to_string(), "shared memory among ranks of a machine"));
}

TEST_F(Ucx, CarriesCodecs) {
  const Comm machines = apart();
  const Problem p = natural({16, 22, 18}, Precision::float64);
  for (const char* codec : {"fp32", "trim:20", "zfp-accuracy:12"}) {
    if (std::string(codec).starts_with("zfp") && !zfp::missing().empty()) continue;
    SCOPED_TRACE(codec);
    const auto coded = [&](Options o) { return o.set("codec", codec); };
    const auto expected = results<double>(machines, p, coded(Options().set("exchange", "p2p")));
    for (const char* one_sided : {"off", "on"})
      EXPECT_EQ(results<double>(machines, p, coded(lo_).set("chunk", 1024).set("one_sided", one_sided)),
                expected);
  }
}

/// Of several plans under way each gets its own messages, in whatever order they are waited for.
TEST_F(Ucx, SeveralPlansAreUnderWayTogether) {
  const Comm machines = apart();
  const auto plan = [&](const char* one_sided, const char* pipeline) {
    return Plan(machines, natural({12, 18, 8}, Precision::float64),
                Options(lo_).set("one_sided", one_sided).set("pipeline", pipeline));
  };
  Plan a = plan("on", "auto"), b = plan("on", "windowed"), c = plan("off", "windowed");
  Buffer<std::complex<double>> in(a.input_count()), x(a.output_count()), y(a.output_count()),
      z(a.output_count());
  in[0] = machines.rank() == 0 ? 1 : 0;
  for (int i = 0; i < 4; ++i) {
    a.start_forward(in.data(), x.data());
    b.start_forward(in.data(), y.data());
    c.start_forward(in.data(), z.data());
    (machines.rank() % 2 == 0 ? a : b).wait();
    c.wait();
    (machines.rank() % 2 == 0 ? b : a).wait();
    for (const auto* out : {&x, &y, &z})
      for (const auto& v : *out) ASSERT_NEAR(std::abs(v - 1.0), 0, 1e-13);
  }
}

/// A rank that is done does not have to look at its messages any more: they are on their way.
TEST_F(Ucx, RanksThatAreDoneAreNotNeeded) {
  const Comm machines = apart();
  for (const char* one_sided : {"off", "on"}) {
    Plan plan(machines, natural({48, 50, 33}, Precision::float64),
              Options(lo_).set("chunk", 3000).set("one_sided", one_sided));
    Buffer<std::complex<double>> in(plan.input_count()), out(plan.output_count());
    for (int i = 0; i < 5; ++i) {
      plan.forward(in.data(), out.data());
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

TEST_F(Ucx, DevicesThatDoNotExistAreAnError) {
  const Comm machines = apart();
  const Problem p = natural({8, 8, 8}, Precision::float64);
  expect_error([&] { const Plan plan(machines, p, Options(ucx_).set("rails", "nonsense")); },
               "plan: option rails: \"nonsense\", which is no network device of rank 0");
  expect_error([&] { const Plan plan(machines, p, Options(ucx_).set("rails", "99")); }, "99");
  for (const char* wrong : {"", "0", "-1", "lo,", "lo,lo"})
    expect_error([&] { Options().set("rails", wrong); }, "options: rails");
  for (const auto& [option, wrong] : {std::pair("chunk", "12"),
                                      {"chunk", "many"},
                                      {"chunk", "5KB"},
                                      {"chunk", "2048MiB"},
                                      {"chunk", ""},
                                      {"inflight", "0"},
                                      {"barrier", "perhaps"},
                                      {"one_sided", "kernel"}})
    expect_error([&, o = option, w = wrong] { Options().set(o, w); }, std::string("options: ") + option);
  results<double>(machines, p, lo_);  // the ranks can still plan
}

TEST_F(Ucx, ALostLinkIsAnErrorOnAllRanks) {
  const Problem p = natural({24, 24, 8}, Precision::float64);
  for (const char* one_sided : {"off", "on"}) {
    const Comm machines = apart();
    Plan plan(machines, p, Options(lo_).set("chunk", 1024).set("inflight", 1).set("one_sided", one_sided));
    Buffer<std::complex<double>> in(plan.input_count()), out(plan.output_count());
    plan.forward(in.data(), out.data());
    const ScopedSwitch loss(ucx::detail::pretended_loss, machines.rank() == 1);
    const auto often = [&] {
      for (int i = 0; i < 100000; ++i) plan.forward(in.data(), out.data());
    };
    expect_error(often,
                 machines.rank() == 1 ? "rail lo, which has lost its link" : "has failed in the middle");
    expect_error([&] { plan.forward(in.data(), out.data()); }, "failed in the middle");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const Comm again = apart();
  results<double>(again, p, lo_);
}

/// Which says so where others may wait for what its execution took, though one of them has not got there yet.
TEST_F(Ucx, ARankThatFailsAloneIsNotWaitedForInDecisions) {
  if (comm_.size() != 4) GTEST_SKIP() << "two pairs are four ranks";
  const std::string rails = two_rails();
  if (rails == "lo") GTEST_SKIP() << "there is no network device but lo";
  for (const int from_last : {0, 1, 2}) {
    const Comm machines = apart();
    auto plan = std::make_unique<Plan>(machines, two_pairs(), Options(ucx_).set("rails", rails));
    Buffer<std::complex<double>> in(plan->input_count()), out(plan->output_count());
    const auto forward = [&] { plan->forward(in.data(), out.data()); };
    int operations = 0, fails_in = -1;
    bool late = false;
    TestHook hook;
    hook.at_point = [&](const char* point, int rank) {
      if (std::string(point) != "op") return;
      if (rank == lonely && ++operations == fails_in) throw Error("test", "broken on purpose", "");
      if (rank == 3 && std::exchange(late, false)) usleep(30000);
    };
    const ScopedTestHook scoped(hook);
    forward();
    fails_in = 2 * operations - from_last;
    late = true;
    if (comm_.rank() == lonely) {
      expect_error(forward, "broken on purpose");
      plan.reset();
    } else if (comm_.rank() == 0) {
      expect_error(
          [&] {
            for (int i = 0; i < 3; ++i) forward();
          },
          "has failed in the middle");
    } else {
      for (int i = 0; i < 10; ++i) forward();
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

namespace {

/// Two ranks, each in a network namespace of its own, which two virtual cables join as rail0 and rail1. MPI
/// stays where it was started: its sockets are open. Without the right to do so there are no cables.
class Cables {
 public:
  explicit Cables(const Comm& comm)
      : rank_(comm.rank()),
        before_(open("/proc/self/ns/net", O_RDONLY)),
        files_before_(open("/proc/self/ns/mnt", O_RDONLY)) {
    // UCX finds networks in /sys, which shows those of the namespace that it was mounted in.
    const bool mine = before_ >= 0 && files_before_ >= 0 && unshare(CLONE_NEWNET | CLONE_NEWNS) == 0 &&
                      mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                      mount("sysfs", "/sys", "sysfs", 0, nullptr) == 0;
    const std::vector<pid_t> processes = all_of(comm.impl(), getpid());
    laid_ = comm.impl().least(mine ? 1 : 0) == 1;
    for (const std::string number : {"0", "1"}) {
      const std::string name = "rail" + number;
      if (laid_ && rank_ == 0)
        laid_ = run("ip link add " + name + " type veth peer name " + name + " netns " +
                    std::to_string(processes[1]));
      laid_ = comm.impl().least(laid_ ? 1 : 0) == 1;
      if (laid_) laid_ = bring_up(name, "10.99." + number + "." + std::to_string(rank_ + 1));
      laid_ = comm.impl().least(laid_ ? 1 : 0) == 1;
      for (int i = 0; laid_ && i < 300 && !ucx::has_link(name); ++i) usleep(10000);
    }
    comm.barrier();
  }
  ~Cables() {
    for (const int before : {before_, files_before_}) {
      if (before < 0) continue;
      setns(before, 0);
      close(before);
    }
  }
  Cables(const Cables&) = delete;
  Cables& operator=(const Cables&) = delete;

  bool laid() const { return laid_; }
  static bool run(const std::string& command) {
    return std::system((command + " 2> /dev/null").c_str()) == 0;
  }
  static bool bring_up(const std::string& device, const std::string& address) {
    return run("ip addr add " + address + "/24 dev " + device) && run("ip link set " + device + " up");
  }

 private:
  int rank_, before_, files_before_;
  bool laid_ = false;
};

/// A rail that becomes slow while a plan runs is relieved of what it carries. Collective.
void expect_relief(const Comm& machines, const Problem& problem, const Options& options) {
  Plan plan(machines, problem, options);
  Buffer<std::complex<double>> in(plan.input_count()), out(plan.output_count());
  const auto seconds = [&] {
    machines.barrier();
    const double begin = seconds_now();
    plan.forward(in.data(), out.data());
    return seconds_now() - begin;
  };
  for (int i = 0; i < 3; ++i) seconds();
  const bool slowed =
      machines.rank() == 1 || Cables::run("tc qdisc add dev rail1 root tbf rate 2mbit burst 3kb latency 1s");
  if (machines.impl().least(slowed ? 1 : 0) == 0) return;  // no program tc, or no token buckets
  const double at_first = seconds();
  double least = at_first;  // others may use the processors
  for (int i = 0; i < 10; ++i) least = std::min(least, seconds());
  EXPECT_LE(least, 0.5 * at_first);
  if (machines.rank() == 0) Cables::run("tc qdisc del dev rail1 root");
  machines.barrier();
}

/// Whether executions with effort online try exchange ucx before they settle.
bool tries_ucx(const Comm& comm, const Problem& problem, const Options& options) {
  forget_wisdom();
  const ScopedSwitch reckless(detail::online_at_any_cost, true);
  Plan plan(comm, problem, Options(options).set("effort", "online").set("online", 500));
  Buffer<std::complex<double>> in(plan.input_count()), out(plan.output_count());
  const auto tried = [&] {
    const std::vector<OnlineExecution> executions = plan.explain().online.executions;
    return std::any_of(executions.begin(), executions.end(), [](const OnlineExecution& e) {
      const auto exchange = e.options.find("exchange");
      return exchange != e.options.end() && exchange->second == "ucx";
    });
  };
  // Alike on all ranks.
  while (!tried() && plan.explain().online.trying) plan.forward(in.data(), out.data());
  const bool found = tried();
  forget_wisdom();
  return found;
}

}  // namespace

/// A network that leads nowhere is left out. A cable that is pulled is an error on all ranks; the next plan
/// goes by the other one.
TEST_F(Ucx, RailsInNamespaces) {
  if (comm_.size() != 2) GTEST_SKIP() << "cables for two ranks";
  const Cables cables(comm_);
  if (!cables.laid()) GTEST_SKIP() << "no right to make network namespaces, or no program ip";
  ASSERT_TRUE(Cables::run("ip link add net7 type veth peer name peer7 && ip link set peer7 up"));
  ASSERT_TRUE(Cables::bring_up("net7", "10.98." + std::to_string(comm_.rank()) + ".1"));
  const Problem p = natural({24, 25, 18}, Precision::float64);
  const auto expected =
      results<double>(apart(), p, Options().set("exchange", "p2p").set("layout", "contiguous"));
  const Options o = Options(ucx_).set("chunk", 2048).set("layout", "contiguous");
  {
    const ScopedVariable transports("UCX_TLS", "nonsense");
    expect_error([&] { const Plan no(apart(), p, o); }, "with UCX_TLS=nonsense");
  }
  {
    // What one rank cannot open is left out on all. A number counts those that are there.
    int opened = 0;
    TestHook hook;
    hook.at_point = [&](const char* point, int rank) {
      if (std::string(point) == "ucx" && ++opened == 3 && rank == 1) throw Error("test", "no rail1", "");
    };
    const ScopedTestHook scoped(hook);
    EXPECT_TRUE(says(Plan(apart(), p, o).to_string(), "exchange ucx 1 rail: rail0 (TCP, messages)\n"));
    opened = 0;
    expect_error([&] { const Plan no(apart(), p, Options(o).set("rails", 2)); },
                 "2 rails, where all ranks reach each other by rail0 alone");
    opened = 0;
    EXPECT_TRUE(
        says(Plan(apart(), p, Options(o).set("rails", 1)).to_string(), "1 rail: rail0 (TCP, messages)\n"));
  }
  {
    const numa::Map machine{{{0, numa::of_thread()}, {1, {}}}, {}, {{"rail0", 1}, {"rail1", 0}}};
    const ScopedSwitch<const numa::Map*> pretended(numa::detail::pretended_machine, &machine);
    EXPECT_TRUE(says(Plan(apart(), p, Options(o).set("rails", 1)).to_string(),
                     "1 rail: rail1 (TCP, messages, NUMA node 0)\n"));
    EXPECT_TRUE(says(Plan(apart(), p, o).to_string(),
                     "2 rails: rail1 (TCP, messages, NUMA node 0), rail0 (TCP, messages, NUMA node 1)\n"));
  }
  EXPECT_TRUE(tries_ucx(apart(), p, Options()));
  EXPECT_FALSE(tries_ucx(apart(), p, Options().set("rails", 1)));
  EXPECT_FALSE(tries_ucx(apart(), p, Options().set("exchange", "p2p")));
  for (const bool puts : {true, false}) {
    SCOPED_TRACE(puts);
    const Options sending = Options(o).set("one_sided", puts ? "on" : "off");
    const std::string way = puts ? " (TCP, puts)" : " (TCP, messages)";
    {
      const Comm machines = apart();
      EXPECT_EQ(results<double>(machines, p, sending), expected);
      EXPECT_EQ(results<double>(machines, p, Options(sending).set("rebalance", "1"), 20), expected);
      expect_relief(machines, p, sending);
      Plan plan(machines, p, sending);
      EXPECT_TRUE(says(plan.to_string(), "exchange ucx 2 rails: rail0" + way + ", rail1" + way + "\n"));
      expect_error([&] { const Plan no(machines, p, Options(sending).set("rails", "net7")); },
                   "net7, by which some rank does not reach all others");
      Buffer<std::complex<double>> in(plan.input_count()), out(plan.output_count());
      // If nothing is under way when it is pulled, the plan goes on.
      bool failed = false;
      try {
        for (int i = 0; i < 40; ++i) {
          if (i == 5 && machines.rank() == 1) Cables::run("ip link set rail1 down");
          plan.forward(in.data(), out.data());
        }
      } catch (const Error&) {
        failed = true;
      }
      EXPECT_EQ(all_of(comm_.impl(), failed ? 1 : 0), std::vector<int>(2, failed ? 1 : 0));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const Comm machines = apart();
    EXPECT_EQ(results<double>(machines, p, sending), expected);
    EXPECT_TRUE(says(Plan(machines, p, sending).to_string(), "exchange ucx 1 rail: rail0" + way + "\n"));
    if (machines.rank() == 1) Cables::run("ip link set rail1 up");
    for (int i = 0; i < 300 && !ucx::has_link("rail1"); ++i) usleep(10000);
    machines.barrier();
  }
}

#endif

/// Run with a library that is not there, and in builds without UCX.
TEST(UcxMissing, IsAnErrorThatSaysWhatToDo) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const std::string why = why_no_exchange(comm, "ucx");
  if (why.empty()) GTEST_SKIP() << "UCX is there";
  EXPECT_TRUE(says(why, "UCX"));
  Problem p = natural({8, 8, 8}, Precision::float64);
  expect_error([&] { const Plan plan(comm, p, Options().set("exchange", "ucx")); }, "\"ucx\": " + why);
  expect_error([&] { const Plan plan(comm, p, Options().set("exchange", "ucx")); },
               exchange_row("ucx").carrier == nullptr ? "libucx-dev" : "WEFT_UCX_LIBRARY");
}

}  // namespace weft::test
