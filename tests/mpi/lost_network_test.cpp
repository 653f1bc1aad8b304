// Exchange ucx where networks fail: an error on all ranks, and the next execution goes by those that are
// left.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/online.hpp"
#include "api/plan_impl.hpp"
#include "api/renewal.hpp"
#include "base/numa/binding.hpp"
#include "base/test_hook.hpp"
#include "base/timing.hpp"
#include "support/design_of.hpp"
#include "support/expect_error.hpp"
#include "support/one_rank_fails.hpp"
#include "support/says.hpp"
#include "support/ucx_ranks.hpp"
#include "transport/lost_network.hpp"

#ifdef WEFT_WITH_UCX

namespace weft::test {

TEST_F(Ucx, ALostLinkIsAnErrorOnAllRanks) {
  const Problem p = natural({24, 24, 8}, Precision::float64);
  for (const char* one_sided : {"off", "on"}) {
    const Comm machines = apart();
    Plan plan(machines, p, Options(lo_).set("chunk", 1024).set("inflight", 1).set("one_sided", one_sided));
    Buffer<std::complex<double>> in(plan.input_count()), out(plan.output_count());
    plan.forward(in.data(), out.data());
    const ScopedSwitch<const char*> loss(ucx::detail::pretended_loss, machines.rank() == 1 ? "lo" : nullptr);
    const auto often = [&] {
      for (int i = 0; i < 100000; ++i) plan.forward(in.data(), out.data());
    };
    expect_error(often,
                 machines.rank() == 1 ? "rail lo, which has lost its link" : "has failed in the middle");
    // There is no other; or some ranks were done with what failed on others.
    try {
      plan.forward(in.data(), out.data());
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_TRUE(
          says(e.what(), PlanImpl::of(plan).meeting ? "none of which is left" : ", as a network was lost"));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const Comm again = apart();
  results<double>(again, p, lo_);
}

namespace {

/// One plan over two rails, and what it should make of values that differ from point to point.
struct OverTwoRails {
  OverTwoRails(const Comm& machines, const Options& options)
      : problem(natural({24, 25, 18}, Precision::float64)),
        expected(
            results<double>(machines, problem, Options().set("exchange", "p2p").set("layout", "contiguous"))),
        plan(machines, problem, Options(options).set("chunk", 2048).set("layout", "contiguous")),
        in(plan.input_count()),
        out(plan.output_count()) {
    fill(in, machines.rank());
  }
  void forward() { plan.forward(in.data(), out.data()); }
  void expect_right() {
    std::fill(out.begin(), out.end(), 0);
    forward();
    EXPECT_TRUE(std::equal(out.begin(), out.end(), expected.begin()));
  }

  Problem problem;
  std::vector<std::complex<double>> expected;
  Plan plan;
  Buffer<std::complex<double>> in, out;
};

/// Lets an execution of rank 1 fail at its first operation, as if a network had gone.
TestHook losing(std::atomic<bool>* armed) {
  TestHook hook;
  hook.at_point = [armed](const char* point, int rank) {
    if (std::string(point) == "op" && rank == 1 && armed->exchange(false))
      throw LostNetwork("test", "a cable that was cut", "another one");
  };
  return hook;
}

}  // namespace

/// An error on all ranks, and the next execution is right by what is left, with and without tuning. Where
/// nothing is left that is an error on all ranks, until there is.
TEST_F(Ucx, TheNextExecutionGoesByTheNetworksThatAreLeft) {
  const std::string rails = two_rails();
  if (rails == "lo") GTEST_SKIP() << "there is no network device but lo";
  const std::string other = rails.substr(3);
  for (const char* effort : {"estimate", "online"}) {
    SCOPED_TRACE(effort);
    const Comm machines = apart();
    OverTwoRails over(machines, Options(ucx_).set("rails", rails).set("effort", effort));
    OverTwoRails beside(machines, Options(ucx_).set("rails", rails));
    const auto lose = [&] {
      std::atomic<bool> armed{true};
      const ScopedTestHook hook(losing(&armed));
      expect_error([&] { over.forward(); },
                   machines.rank() == 1 ? "a cable that was cut" : "has failed in the middle");
    };
    for (int i = 0; i < 3; ++i) over.expect_right();
    lose();
    {
      const ScopedSwitch<const char*> loss(ucx::detail::pretended_loss,
                                           machines.rank() == 1 ? other.c_str() : nullptr);
      for (int i = 0; i < 4; ++i) over.expect_right();
      EXPECT_TRUE(says(over.plan.to_string(), "exchange ucx 1 rail: lo (TCP"));
    }
    beside.expect_right();
    lose();
    {
      const ScopedSwitch<const char*> loss(ucx::detail::pretended_loss,
                                           machines.rank() == 1 ? "lo" : other.c_str());
      for (int i = 0; i < 2; ++i) expect_error([&] { over.forward(); }, "none of which is left on all ranks");
    }
    for (int i = 0; i < 2; ++i) over.expect_right();
    EXPECT_TRUE(says(over.plan.to_string(), "exchange ucx 2 rails: lo (TCP"));
  }
}

/// So is what machines gather for each other.
TEST_F(Ucx, WhatMachinesGatherGoesByTheNetworksThatAreLeft) {
  const std::string rails = two_rails();
  if (comm_.size() != 4 || rails == "lo") GTEST_SKIP() << "needs two machines of two ranks, and two networks";
  const ScopedSwitch pairs(detail::pretended_ranks_per_node, 2);
  const Comm machines = Comm::mpi(MPI_COMM_WORLD);
  OverTwoRails over(machines, Options().set("exchange", "node_ucx").set("rails", rails));
  EXPECT_TRUE(says(over.plan.to_string(), "exchange node_ucx 2 rails: lo (TCP"));
  for (int i = 0; i < 3; ++i) over.expect_right();
  {
    std::atomic<bool> armed{true};
    const ScopedTestHook hook(losing(&armed));
    expect_error([&] { over.forward(); },
                 machines.rank() == 1 ? "a cable that was cut" : "has failed in the middle");
  }
  const std::string other = rails.substr(3);
  const ScopedSwitch<const char*> loss(ucx::detail::pretended_loss,
                                       machines.rank() == 1 ? other.c_str() : nullptr);
  for (int i = 0; i < 4; ++i) over.expect_right();
  EXPECT_TRUE(says(over.plan.to_string(), "exchange node_ucx 1 rail: lo (TCP"));
}

/// A link that is lost while executions go on is found, though no transfer fails.
TEST_F(Ucx, ALostLinkOfWhatMachinesGatherIsAnErrorOnAllRanks) {
  if (comm_.size() != 4) GTEST_SKIP() << "needs two machines of two ranks";
  const ScopedSwitch pairs(detail::pretended_ranks_per_node, 2);
  const Comm machines = Comm::mpi(MPI_COMM_WORLD);
  OverTwoRails over(machines, Options().set("exchange", "node_ucx").set("rails", "lo"));
  over.expect_right();
  const ScopedSwitch<const char*> loss(ucx::detail::pretended_loss, machines.rank() == 1 ? "lo" : nullptr);
  const auto often = [&] {
    for (int i = 0; i < 100000; ++i) over.forward();
  };
  expect_error(often, machines.rank() == 1 ? "rail lo, which has lost its link" : "has failed in the middle");
}

/// Where ranks agree before each execution they do not meet: one may not have heard of the failure.
TEST_F(Ucx, APlanIsNotMadeAgainWhereMisuseIsAgreedOn) {
  const Comm machines = apart();
  OverTwoRails over(machines, Options(lo_).set("check", "collective"));
  std::atomic<bool> armed{true};
  const ScopedTestHook hook(losing(&armed));
  expect_error([&] { over.forward(); }, "");
  expect_error([&] { over.forward(); }, "a plan whose earlier execution failed in the middle");
}

/// Those that come are told, and those that come later.
TEST_F(Ucx, NobodyWaitsForEverForARankThatDoesNotComeAgain) {
  const ScopedSwitch<double> short_patience(detail::patience_of_meetings, 0.2);
  const Comm machines = apart();
  OverTwoRails over(machines, lo_);
  {
    std::atomic<bool> armed{true};
    const ScopedTestHook hook(losing(&armed));
    expect_error([&] { over.forward(); },
                 machines.rank() == 1 ? "a cable that was cut" : "has failed in the middle");
  }
  if (machines.rank() == 1)
    expect_error([&] { over.forward(); }, "of which some rank has begun no other for a minute");
  MPI_Barrier(MPI_COMM_WORLD);
  if (machines.rank() != 1) expect_error([&] { over.forward(); }, "that some rank has left");
  expect_error([&] { over.forward(); }, "a plan whose earlier execution failed in the middle");
  results<double>(machines, over.problem, lo_);
}

/// What one rank has completed another one cannot any more.
TEST_F(Ucx, APlanIsNotMadeAgainBetweenDifferentExecutions) {
  const Comm machines = apart();
  OverTwoRails over(machines, lo_);
  for (int i = 0; i < 3; ++i) over.expect_right();
  if (machines.rank() == 1) {
    PlanImpl::of(over.plan).bound->fail(std::make_exception_ptr(LostNetwork("test", "a cable", "another")));
  } else {
    expect_error([&] { over.forward(); }, "has failed in the middle");
  }
  expect_error([&] { over.forward(); },
               "some rank has completed 3 executions, and another one 2, as a network was lost");
  expect_error([&] { over.forward(); }, "failed in the middle");
  results<double>(machines, over.problem, lo_);
}

/// Nor after a failure that no other network would prevent.
TEST_F(Ucx, APlanIsNotMadeAgainAfterAnotherFailure) {
  const Comm machines = apart();
  OverTwoRails over(machines, lo_);
  over.expect_right();
  {
    TestHook hook;
    hook.at_point = [](const char* point, int rank) {
      if (std::string(point) == "op" && rank == 1) throw Error("test", "broken on purpose", "");
    };
    const ScopedTestHook scoped(hook);
    expect_error([&] { over.forward(); },
                 machines.rank() == 1 ? "broken on purpose" : "has failed in the middle");
  }
  for (int i = 0; i < 2; ++i)
    expect_error([&] { over.forward(); }, "a plan whose earlier execution failed in the middle");
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

/// Nor where it fails between two executions, which others may have begun.
TEST_F(Ucx, ARankThatGoesBetweenExecutionsIsNotWaitedForInDecisions) {
  if (comm_.size() != 4) GTEST_SKIP() << "two pairs are four ranks";
  const std::string rails = two_rails();
  if (rails == "lo") GTEST_SKIP() << "there is no network device but lo";
  for (const bool tells : {true, false}) {
    const Comm machines = apart();
    auto plan = std::make_unique<Plan>(machines, two_pairs(), Options(ucx_).set("rails", rails));
    Buffer<std::complex<double>> in(plan->input_count()), out(plan->output_count());
    const auto forward = [&](int times) {
      for (int i = 0; i < times; ++i) plan->forward(in.data(), out.data());
    };
    forward(2);  // the first are all measured
    if (comm_.rank() == lonely) {
      if (tells)
        PlanImpl::of(*plan).bound->fail(std::make_exception_ptr(Error("test", "broken on purpose", "")));
      plan.reset();
    } else if (comm_.rank() == 0) {  // its only peer
      if (tells) expect_error([&] { forward(3); }, "has failed in the middle");
      plan.reset();
    } else {
      forward(10);
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

/// A network that leads nowhere is left out. A cable that is pulled is an error on all ranks; what is
/// executed behind that goes by the other one.
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
      fill(in, machines.rank());
      // If nothing is under way when it is pulled, no execution fails.
      int failures = 0;
      for (int i = 0; i < 40; ++i) {
        if (i == 5 && machines.rank() == 1) Cables::run("ip link set rail1 down");
        try {
          plan.forward(in.data(), out.data());
        } catch (const Error&) {
          ++failures;
        }
      }
      if (!PlanImpl::of(plan).meeting) {
        EXPECT_GT(failures, 1);  // one rank was done with what failed on the other
      } else {
        EXPECT_LE(failures, 1);
        EXPECT_TRUE(std::equal(out.begin(), out.end(), expected.begin()));
      }
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

}  // namespace weft::test

#endif
