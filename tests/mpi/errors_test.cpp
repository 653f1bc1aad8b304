// Errors among MPI ranks: all ranks get them, nobody hangs; and the user's communicator is left alone.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <functional>
#include <optional>

#include "base/test_hook.hpp"
#include "base/text.hpp"
#include "comm/comm_impl.hpp"
#include "comm/shared_memory.hpp"
#include "support/bad_input.hpp"
#include "support/design_of.hpp"
#include "support/expect_error.hpp"
#include "support/fails_at.hpp"
#include "support/random_problem.hpp"
#include "support/scoped_variable.hpp"
#include "transport/mpi/types.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace weft::test {

using Complex = std::complex<double>;

TEST(BadInput, IsTheSameErrorOnEveryMpiRank) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  for (const BadInput& bad : bad_inputs()) {
    if (comm.size() < bad.least_ranks) continue;
    SCOPED_TRACE(bad.name);
    expect_error([&] { bad.run(comm); }, bad.message);
    comm.barrier();  // everybody came back
  }
}

TEST(Errors, PlanningThatFailsOnOneRankFailsOnAllAndLeavesNoTrace) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const int last = comm.size() - 1;
  for (const char* where : {"plan", "prepare"}) {
    TestHook hook;
    hook.at_point = [&](const char* point, int rank) {
      if (std::string(point) == where && rank == last) throw std::runtime_error("out of luck");
    };
    const ScopedTestHook scoped(hook);
    expect_error([&] { Plan plan(comm, small_cube()); }, "out of luck (rank " + std::to_string(last) + ")");
  }
  // The communicator is as good as before: tags and groups are still alike on all ranks.
  const RandomProblem p = make_random_problem(99, comm.size(), true);
  run_random_problem(comm, p);
}

TEST(Errors, AVariableOfOneRankAloneFailsOnAll) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  std::optional<ScopedVariable> variable;
  if (comm.rank() == 0) variable.emplace("WEFT_PIPELINE", "sequential");
  expect_error([&] { Plan plan(comm, small_cube()); }, "option pipeline sequential as on rank 0");
}

TEST(Errors, MisuseOnOneRankAloneSaysThatOthersMayWait) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  Plan plan(comm, small_cube());
  Buffer<Complex> out(plan.output_count());
  // All ranks misuse the plan, so that nobody really waits.
  expect_error([&] { plan.forward(static_cast<const Complex*>(nullptr), out.data()); },
               comm.size() == 1 ? "in is null" : "other ranks may wait");
  Buffer<Complex> in(plan.input_count());
  plan.forward(in.data(), out.data());  // the plan is still good
}

TEST(Errors, AnIntercommunicator) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) return;
  MPI_Comm half = MPI_COMM_NULL, both = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? 1 : 0, 0, &both);
  expect_error([&] { Comm::mpi(both); }, "an intercommunicator; expected an intracommunicator");
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

TEST(Errors, NullCommunicatorAndForeignExchanges) {
  expect_error([] { Comm::mpi(MPI_COMM_NULL); }, "MPI_COMM_NULL");
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  expect_error([&] { Plan plan(comm, small_cube(), Options().set("exchange", "copy")); },
               "among ranks of medium mpi; expected auto or one of direct, p2p, p2pw, alltoallv, pairwise");
  ThreadTeam team(2);
  team.run([](const Comm& threads) {
    expect_error([&] { Plan plan(threads, small_cube(), Options().set("exchange", "p2p")); },
                 "medium threads");
  });
}

namespace {

/// An impulse at the origin becomes ones.
void expect_ones(const Comm& comm, Plan& plan) {
  Buffer<Complex> in(plan.input_count()), out(plan.output_count());
  in[0] = comm.rank() == 0 ? 1 : 0;
  plan.forward(in.data(), out.data());
  for (const Complex& v : out) ASSERT_NEAR(std::abs(v - 1.0), 0, 1e-14);
}

}  // namespace

TEST(Errors, PaddingThatHasNoRoomNamesWhatHas) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() < 3) return;
  // The last rank has nearly everything, so that every part would be padded to nearly everything.
  std::vector<Box> boxes;
  const int last = comm.size() - 1;
  for (int r = 0; r < last; ++r) boxes.push_back({{r, 0, 0}, {r + 1, 16, 16}});
  boxes.push_back({{last, 0, 0}, {16, 16, 16}});
  Problem p = small_cube();
  p.shape = {16, 16, 16};
  p.input = Distribution::boxes(boxes);
  expect_error([&] { Plan plan(comm, p, Options().set("exchange", "alltoall")); }, "padding does not fit");
  expect_error([&] { Plan plan(comm, p, Options().set("exchange", "alltoall")); },
               "expected one of direct, p2p, p2pw, alltoallv, pairwise, alltoallw");
  Plan plan(comm, p, Options().set("exchange", "alltoallv"));
  expect_ones(comm, plan);
}

namespace {

/// A limit on the size of files stands in for a small /dev/shm: making the object fails alike.
class SmallFiles {
 public:
  explicit SmallFiles(bool on) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{4096, before_.rlim_max};
    if (on) setrlimit(RLIMIT_FSIZE, &small);
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

TEST(SharedMemory, TooLittleRoomNamesWhatTheMachineNeeds) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const SmallFiles small(comm.rank() == comm.size() - 1);
  const int n = comm.size();
  const int mebibytes = n * (n + 1) / 2;
  expect_error([&] { comm.impl().share(static_cast<std::size_t>(comm.rank() + 1) << 20); },
               "no room for " + human_bytes(mebibytes * 1048576.0) + " in /dev/shm (" + std::to_string(n) +
                   (n == 1 ? " rank" : " ranks") + " of this machine");
}

TEST(SharedMemory, TooLittleRoomIsAnErrorOnEveryRank) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  // With one array for all ranks the first one has it.
  std::optional<SmallFiles> small(comm.rank() == 0 || comm.rank() == comm.size() - 1);
  Problem p = small_cube();
  p.shape = {32, 32, 32};
  const auto make = [&] { Plan plan(comm, p, Options().set("exchange", "direct")); };
  if (comm.size() == 1) {
    make();  // nothing to exchange, nothing to share
  } else {
    expect_error(make, "no room for");
    expect_error(make, "expected a larger /dev/shm");
    // Left to itself Weft takes another exchange, and says so.
    Plan plan(comm, p);
    EXPECT_FALSE(first_leg(plan).traits.stores);
    EXPECT_TRUE(says(setting_of(plan).closed.sharing, "no room for"));
    expect_ones(comm, plan);
    Plan sequential(comm, p, Options().set("pipeline", "sequential"));
    expect_ones(comm, sequential);
    Plan planes(comm, p, Options().set("pipeline", "planes"));
    expect_ones(comm, planes);
  }
  small.reset();
  comm.barrier();
  Plan plan(comm, p, Options().set("exchange", "direct"));
  expect_ones(comm, plan);
}

TEST(SharedMemory, NobodyWaitsForARankThatFailedInTheMiddle) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  for (const char* pipeline : {"planes", "sequential", "shared"})
    for (int when : {0, 2, 5, 9}) {
      Plan plan(comm, small_cube(), Options().set("exchange", "direct").set("pipeline", pipeline));
      const TestHook hook = rank_1_fails_at(when);
      Buffer<Complex> in(plan.input_count()), out(plan.output_count());
      const auto forward = [&] { plan.forward(static_cast<const Complex*>(in.data()), out.data()); };
      forward();
      const ScopedTestHook scoped(hook);
      // Some ranks may get through once more before they notice.
      const auto often = [&] {
        for (int i = 0; i < 3; ++i) forward();
      };
      expect_error(often, comm.rank() == 1 ? "broken on purpose" : "failed in the middle");
      expect_error(forward, "failed in the middle");
      comm.barrier();
    }
}

TEST(Exchanges, MayDifferFromReshapeToReshape) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() < 2) return;
  Problem p = small_cube();
  p.output = Distribution::slab(0);
  Plan plan(comm, p, Options().set("exchange", "alltoallw,p2p"));
  const Design& design = design_of(plan);
  for (const auto& [direction, names] : {std::pair(Direction::forward, std::array{"alltoallw", "p2p"}),
                                         std::pair(Direction::backward, std::array{"p2p", "alltoallw"})})
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_EQ(design.legs_of(direction).at(j).exchange, names[j]) << name_of(direction);
  expect_ones(comm, plan);
}

TEST(Counts, ElementsOfOtherSizesHaveNoType) {
  EXPECT_EQ(mpi_datatype(4), MPI_FLOAT);
  for (const int bytes : {0, 2, 12, 32}) expect_error([&] { mpi_datatype(bytes); }, "4, 8 or 16");
}

TEST(Counts, LargeTypesCarryWhatAnIntCannotCount) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() < 2 || comm.size() > 4) return;
  for (const Index small : {2, 7, 100}) {
    const ScopedSwitch limit(detail::mpi_count_limit, small);
    for (const char* exchange : {"p2p", "p2pw", "pairwise", "alltoallw", "ring"})
      for (const char* layout : {"contiguous", "strided"}) {
        Plan plan(comm, small_cube(), Options().set("exchange", exchange).set("layout", layout));
        expect_ones(comm, plan);
      }
  }
}

TEST(Handles, SeveralPlansAreUnderWayTogetherUnlessCollectivesWouldMix) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const Options p2p = Options().set("exchange", "p2p");
  Problem natural = small_cube();
  natural.output = Distribution::slab(0);  // two reshapes: messages of the second wait for those of the first
  Plan a(comm, natural, p2p), b(comm, natural, Options(p2p).set("pipeline", "windowed"));
  Buffer<Complex> in(a.input_count()), x(a.output_count()), y(a.output_count());
  in[0] = comm.rank() == 0 ? 1 : 0;
  for (int i = 0; i < 5; ++i) {
    a.start_forward(in.data(), x.data());
    b.start_forward(in.data(), y.data());
    if (comm.rank() % 2 == 0) {
      a.wait();
      b.wait();
    } else {
      b.wait();  // in the other order
      a.wait();
    }
    for (std::size_t k = 0; k < x.size(); ++k)
      ASSERT_NEAR(std::abs(x[k] - 1.0) + std::abs(y[k] - 1.0), 0, 1e-13);
  }
  Plan collective(comm, natural, Options().set("exchange", "ialltoallv"));
  a.start_forward(in.data(), x.data());
  // A rank alone exchanges nothing.
  const auto refused = [&](const std::function<void()>& step, const char* why) {
    comm.size() > 1 ? expect_error(step, why) : step();
  };
  refused([&] { collective.forward(in.data(), y.data()); }, "another plan of these ranks is under way");
  a.wait();
  collective.start_forward(in.data(), y.data());
  refused([&] { a.forward(in.data(), x.data()); }, "has collective exchanges");
  // On a communicator of its own it may be.
  Plan apart(Comm::mpi(MPI_COMM_WORLD), natural, Options().set("exchange", "ialltoallv"));
  apart.start_forward(in.data(), x.data());
  apart.wait();
  collective.wait();
  for (std::size_t k = 0; k < x.size(); ++k)
    ASSERT_NEAR(std::abs(x[k] - 1.0) + std::abs(y[k] - 1.0), 0, 1e-13);
}

TEST(Handles, RanksThatComeTogetherCompleteWhatOthersWaitForInsideABlockingExchange) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() < 3) return;
  Problem cube = small_cube();
  cube.shape = {8, 8, 8};
  cube.output = Distribution::fastest();
  // Backward sends messages first, so that ranks come to MPI_Alltoallv at different times.
  Plan blocking(comm, cube, Options().set("exchange", "alltoallv,p2p").set("shrink", 2));
  Plan second(comm, cube, Options().set("exchange", "p2p").set("check", "collective"));
  Buffer<Complex> in(blocking.output_count()), out(blocking.input_count()), x(second.input_count()),
      y(second.output_count());
  if (comm.rank() == 0) in[0] = 1;
  const std::function<void()> together[] = {
      [&] { expect_error([&] { second.start_forward(x.data(), y.data()); }, "has collective exchanges"); },
      [&] { comm.barrier(); },
      [&] { EXPECT_EQ(comm.split(0).size(), comm.size()); },
      [&] { Plan made(comm, cube); },
  };
  for (const auto& step : together) {
    blocking.start_backward(in.data(), out.data());
    step();
    blocking.wait();
    for (const Complex& v : out) ASSERT_NEAR(std::abs(v - 1.0), 0, 1e-14);
  }
}

TEST(Handles, AStartThatWaitsForAllRanksLetsThemCompleteWhatIsUnderWay) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const Options options = Options().set("exchange", "p2p").set("check", "collective");
  Problem natural = small_cube();
  natural.output = Distribution::slab(0);  // two reshapes: messages of the second wait for those of the first
  Plan first(comm, natural, options), second(comm, natural, options);
  Buffer<Complex> in(first.input_count()), x(first.output_count()), y(second.output_count());
  in[0] = comm.rank() == 0 ? 1 : 0;
  first.start_forward(in.data(), x.data());
  if (comm.rank() % 2 == 1) first.wait();  // the others are in the next call meanwhile
  second.start_forward(in.data(), y.data());
  first.wait();
  second.wait();
  for (std::size_t k = 0; k < x.size(); ++k)
    ASSERT_NEAR(std::abs(x[k] - 1.0) + std::abs(y[k] - 1.0), 0, 1e-13);
}

TEST(Communicator, APartOfIt) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const Comm part = comm.split(comm.rank() % 2 == 0 ? -7 : 100000);  // any number is a colour
  EXPECT_EQ(part.size(), comm.size() / 2 + (comm.rank() % 2 == 0 ? comm.size() % 2 : 0));
  EXPECT_EQ(part.rank(), comm.rank() / 2);
  if (comm.rank() % 2 == 1) return;  // these take no part in what follows
  Plan plan(part, small_cube());
  expect_ones(part, plan);
}

TEST(Counts, BeyondTheMediumAreRefusedWhilePlanningAndThinTilesHelp) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() < 2 || comm.size() > 4) return;  // the sizes of messages below are for these
  const ScopedSwitch limit(detail::mpi_count_limit, Index{100});
  for (const char* exchange : {"alltoallv", "alltoall", "ialltoallv"}) {
    Options o;
    o.set("exchange", exchange);
    expect_error([&] { Plan plan(comm, small_cube(), Options(o).set("pipeline", "sequential")); },
                 "at most 100, as this exchange counts in MPI's int: use exchange p2p");
    Plan plan(comm, small_cube(), Options(o).set("tile", 1));
    expect_ones(comm, plan);
  }
}

TEST(Communicator, TheUsersMessagesAreNotDisturbed) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const int n = comm.size(), next = (comm.rank() + 1) % n, before = (comm.rank() + n - 1) % n;
  const RandomProblem p = make_random_problem(4711, n, true);
  // Receives that match anything are posted: no message of Weft may end in them.
  std::vector<int> sent(4), received(4, -1);
  std::vector<MPI_Request> requests(8);
  for (std::size_t i = 0; i < 4; ++i)
    MPI_Irecv(&received[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[4 + i]);
  run_random_problem(comm, p);
  for (std::size_t i = 0; i < 4; ++i) {
    sent[i] = 100 * comm.rank() + static_cast<int>(i);
    MPI_Isend(&sent[i], 1, MPI_INT, next, static_cast<int>(i), MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Waitall(8, requests.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(received[static_cast<std::size_t>(i)], 100 * before + i);
  // Sends of any tag are pending: no receive of Weft may take them.
  for (std::size_t i = 0; i < 4; ++i)
    MPI_Isend(&sent[i], 1, MPI_INT, next, static_cast<int>(i), MPI_COMM_WORLD, &requests[i]);
  run_random_problem(comm, p);
  for (std::size_t i = 0; i < 4; ++i)
    MPI_Irecv(&received[i], 1, MPI_INT, before, static_cast<int>(i), MPI_COMM_WORLD, &requests[4 + i]);
  MPI_Waitall(8, requests.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(received[static_cast<std::size_t>(i)], 100 * before + i);
}

TEST(Communicator, SeveralPlansOnOneCommunicatorInTurn) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  Problem other = small_cube();
  other.shape = {9, 10, 11};
  Plan a(comm, small_cube()), b(comm, other, Options().set("pipeline", "windowed").set("tile", 1)),
      c(comm, small_cube());
  Buffer<Complex> in(std::max(a.input_count(), b.input_count())),
      out(std::max(a.output_count(), b.output_count())), first(a.output_count());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = {static_cast<double>(i % 7), 1};
  a.forward(in.data(), first.data());
  for (int i = 0; i < 3; ++i) {
    b.forward(in.data(), out.data());
    c.forward(in.data(), out.data());
    for (std::size_t k = 0; k < first.size(); ++k) ASSERT_EQ(first[k], out[k]);
  }
}

}  // namespace weft::test
