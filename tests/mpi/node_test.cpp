// One message for each pair of machines: what comes out is what messages between ranks give, on machines of
// equal and of different sizes, and so many messages travel. Calls of MPI are counted by standing before
// them.
#include <gtest/gtest.h>
#include <mpi.h>

#include <sys/resource.h>

#include <csignal>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/test_hook.hpp"
#include "comm/comm_impl.hpp"
#include "support/design_of.hpp"
#include "support/expect_error.hpp"
#include "support/fails_at.hpp"
#include "support/ucx_ranks.hpp"
#include "transport/mpi/types.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace {

int sends = 0;  // of messages that are not empty

}  // namespace

extern "C" int MPI_Isend(const void* from, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  sends += count > 0 ? 1 : 0;
  return PMPI_Isend(from, count, type, rank, tag, comm, request);
}

namespace weft::test {

namespace {

const Options node = Options().set("exchange", "node");

/// Exchanges that gather: by messages of MPI, and on one and several rails. With rails loopback is one, which
/// is always there.
std::vector<Options> all_that_gather(const Comm& comm) {
  std::vector<Options> all{node};
  if (!has_exchange(comm, "node_ucx")) return all;
  for (const std::string& rails : std::set<std::string>{"lo", two_rails()})
    all.push_back(Options().set("exchange", "node_ucx").set("rails", rails));
  return all;
}

/// Machines of these ranks, so many on each; below 0: so many machines.
Comm machines_of(int ranks) {
  const ScopedSwitch machines(detail::pretended_ranks_per_node, ranks);
  return Comm::mpi(MPI_COMM_WORLD);
}

/// Whether there are several machines, and one with several ranks.
bool serves(const Comm& comm) {
  return any_equal(comm.impl().nodes()) && !all_equal(comm.impl().nodes());
}

/// Two reshapes in each direction, of parts that are no two alike.
Problem natural(Precision precision) {
  Problem p;
  p.shape = {15, 14, 9};
  p.output = Distribution::slab(0);
  p.precision = precision;
  p.backward_scale = Scale::full;
  return p;
}

template <class T>
Buffer<std::complex<T>> random_values(const Comm& comm, std::size_t count) {
  Buffer<std::complex<T>> values(count);
  std::mt19937 random(static_cast<unsigned>(comm.rank() + 1));
  std::normal_distribution<double> normal;
  for (auto& v : values) v = std::complex<T>(static_cast<T>(normal(random)), static_cast<T>(normal(random)));
  return values;
}

/// The largest difference of any rank.
template <class T>
double difference(const Comm& comm, const Buffer<std::complex<T>>& a, const Buffer<std::complex<T>>& b) {
  double most = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    most = std::max(most, static_cast<double>(std::abs(a[i] - b[i])));
  for (const double other : all_of(comm.impl(), most)) most = std::max(most, other);
  return most;
}

/// Several executions in a row, as ranks may be one apart; the last one in steps. `loss`: the relative error
/// of the codec.
template <class T>
void expect_as_by_messages(const Comm& comm, const Options& options, double loss = 0) {
  const Problem p = natural(sizeof(T) == 8 ? Precision::float64 : Precision::float32);
  Options others = options;
  others.set("exchange", "p2p");
  Plan plan(comm, p, options), reference(comm, p, others);
  const auto in = random_values<T>(comm, plan.input_count());
  Buffer<std::complex<T>> out(plan.output_count()), expected(plan.output_count()), back(plan.input_count());
  reference.forward(in.data(), expected.data());
  const double epsilon = std::numeric_limits<T>::epsilon();
  const double bound = (20 * epsilon + 20 * loss) * std::sqrt(15 * 14 * 9);
  for (int i = 0; i < 4; ++i) {
    std::fill(out.begin(), out.end(), std::complex<T>(-1));
    if (i < 3) {
      plan.forward(in.data(), out.data());
    } else {
      plan.start_forward(in.data(), out.data());
      while (!plan.test()) {
      }
    }
    EXPECT_LE(difference(comm, out, expected), bound);
  }
  reference.backward(expected.data(), back.data());
  Buffer<std::complex<T>> again(plan.input_count());
  for (int i = 0; i < 2; ++i) {
    plan.backward(expected.data(), again.data());
    EXPECT_LE(difference(comm, again, back), bound);
  }
}

}  // namespace

TEST(NodeMessages, GiveWhatMessagesBetweenRanksGive) {
  for (const int ranks : {2, 3, -2}) {
    const Comm comm = machines_of(ranks);
    if (!serves(comm) || comm.size() > 6) continue;
    for (const Options& gathers : all_that_gather(comm)) {
      const std::string name = gathers.get("exchange");
      for (const char* pipeline : {"sequential", "windowed", "th", "planes", "two-front"}) {
        SCOPED_TRACE(name + " " + gathers.get("rails") + ", " + pipeline + " on machines of " +
                     std::to_string(ranks));
        const Options options = Options(gathers).set("pipeline", pipeline);
        expect_as_by_messages<double>(comm, options);
        if (name == "node") expect_as_by_messages<double>(comm, Options(options).set("codec", "fp32"), 6e-8);
        if (std::string(pipeline) == "sequential") continue;
        if (name == "node") expect_as_by_messages<float>(comm, Options(options).set("tile", 1));
        expect_as_by_messages<float>(comm, Options(options).set("tile", 2).set("codec", "trim:15,none"),
                                     2e-5);
      }
      expect_as_by_messages<double>(
          comm, Options(gathers).set("exchange", name + ",p2p").set("pipeline", "windowed"));
    }
  }
}

/// Between machines of 4 ranks 16 times fewer.
TEST(NodeMessages, FallByTheRanksOfBothMachines) {
  for (const int ranks : {2, 4}) {
    const Comm comm = machines_of(ranks);
    if (!serves(comm)) continue;
    Problem p;
    p.shape = {24, 24, 8};
    p.output = Distribution::slab(1);
    const auto sent = [&](const char* exchange) {
      Plan plan(comm, p, Options().set("exchange", exchange).set("pipeline", "sequential"));
      const auto in = random_values<double>(comm, plan.input_count());
      Buffer<std::complex<double>> out(plan.output_count());
      plan.forward(in.data(), out.data());
      sends = 0;
      plan.forward(in.data(), out.data());
      int all = 0;
      for (const int each : all_of(comm.impl(), sends)) all += each;
      return all;
    };
    const std::vector<int>& nodes = comm.impl().nodes();
    int pairs_of_ranks = 0;
    std::set<std::pair<int, int>> pairs;
    for (const int a : nodes)
      for (const int b : nodes) {
        if (a == b) continue;
        ++pairs_of_ranks;
        pairs.emplace(a, b);
      }
    const auto pairs_of_machines = static_cast<int>(pairs.size());
    EXPECT_EQ(sent("direct"), pairs_of_ranks);
    EXPECT_EQ(sent("node"), pairs_of_machines);
    if (comm.size() % ranks == 0) {
      EXPECT_EQ(pairs_of_ranks, ranks * ranks * pairs_of_machines);
    }
  }
}

TEST(NodeMessages, LargeTypesCarryWhatAnIntCannotCount) {
  const Comm comm = machines_of(2);
  if (!serves(comm) || comm.size() > 4) return;
  const ScopedSwitch limit(detail::mpi_count_limit, Index{300});
  expect_as_by_messages<double>(comm, Options(node).set("pipeline", "sequential"));
}

TEST(NodeMessages, OfOneMachineAreNone) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const Problem p = natural(Precision::float64);
  Plan plan(comm, p, Options(node).set("pipeline", "planes"));
  EXPECT_TRUE(design_of(plan).memory.far.empty());
  sends = 0;
  const auto in = random_values<double>(comm, plan.input_count());
  Buffer<std::complex<double>> out(plan.output_count());
  plan.forward(in.data(), out.data());
  EXPECT_EQ(sends, 0);
}

TEST(NodeMessages, NeedRanksThatShareAMachine) {
  const Comm comm = machines_of(1);
  if (comm.size() == 1) return;
  expect_error([&] { Plan(comm, natural(Precision::float64), node); },
               "\"node\" where no two ranks share a machine");
  const Comm pairs = machines_of(2);
  if (!serves(pairs)) return;
  expect_error([&] { Plan(pairs, natural(Precision::float64), Options(node).set("workspace", "user")); },
               "\"node\" with workspace given by the user");
  expect_error(
      [&] { Plan(pairs, natural(Precision::float64), Options(node).set("codec", "zfp-accuracy:12")); },
      "exchange node, which sends parts of a fixed length");
  expect_error([&] { Plan(pairs, natural(Precision::float64), Options().set("exchange", "node,direct")); },
               "one exchange that lays the workspace");
}

namespace {

/// A limit on the size of files stands in for a /dev/shm that has room for the workspace, and for no more.
class SmallFiles {
 public:
  explicit SmallFiles(std::size_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

TEST(NodeMessages, WithoutRoomOnOneRankAreAnErrorOnAll) {
  const Comm comm = machines_of(2);
  if (!serves(comm)) return;
  const Problem p = natural(Precision::float64);
  std::optional<SmallFiles> small;
  if (comm.rank() == 0) small.emplace(1024);
  expect_error([&] { Plan(comm, p, node); }, "no room for");
  small.reset();
  comm.barrier();
  expect_as_by_messages<double>(comm, node);
}

TEST(NodeMessages, NobodyWaitsForARankThatFailedInTheMiddle) {
  for (const int ranks : {2, -2})
    for (const Options& gathers : all_that_gather(machines_of(ranks)))
      for (const auto& [pipeline, when] : {std::pair{"sequential", 0},
                                           {"sequential", 3},
                                           {"sequential", 7},
                                           {"two-front", 0},
                                           {"two-front", 3},
                                           {"two-front", 7}}) {
        const Comm comm = machines_of(ranks);
        if (!serves(comm)) return;
        Plan plan(comm, natural(Precision::float64), Options(gathers).set("pipeline", pipeline));
        auto in = random_values<double>(comm, plan.input_count());
        Buffer<std::complex<double>> out(plan.output_count());
        const ScopedTestHook scoped(rank_1_fails_at(when));
        const auto often = [&] {
          for (int i = 0; i < 3; ++i) {
            plan.forward(in.data(), out.data());
            plan.backward(out.data(), in.data());
          }
        };
        expect_error(often, comm.rank() == 1 ? "broken on purpose" : "failed in the middle");
        comm.barrier();
      }
}

}  // namespace weft::test
