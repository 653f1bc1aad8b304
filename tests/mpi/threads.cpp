// MPI with threads: threads LEVEL, where LEVEL is multiple, serialized or funneled. Several threads of each
// rank execute plans on communicators of their own at the same time; below serialized they must be told that
// they cannot. Prints one line; exits with 1 if anything differs.
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace {

using Complex = std::complex<double>;

constexpr int threads = 3;

struct Work {
  Work(const weft::Comm& comm, const weft::Problem& problem, const weft::Options& options)
      : plan(comm, problem, options), in(plan.input_count()), out(plan.output_count()) {
    if (comm.rank() == 0) in[0] = 1;  // an impulse at the origin becomes ones
  }
  bool run() {
    bool good = true;
    for (int i = 0; i < 20; ++i) {
      plan.start_forward(in.data(), out.data());
      if (i % 2 == 0) plan.test();
      plan.wait();
      for (const Complex& v : out) good = good && std::abs(v - 1.0) < 1e-13;
    }
    return good;
  }
  weft::Plan plan;
  weft::Buffer<Complex> in, out;
};

/// Whether all threads computed what they should, or, if they cannot, were told so.
bool run_threads(bool allowed) {
  weft::Problem problem;
  problem.shape = {12, 12, 12};
  problem.output = weft::Distribution::slab(1);
  const char* exchanges[threads] = {"p2p", "ialltoallv", "direct"};
  std::vector<std::unique_ptr<Work>> work;
  for (const char* exchange : exchanges)
    work.push_back(std::make_unique<Work>(weft::Comm::mpi(MPI_COMM_WORLD), problem,
                                          weft::Options().set("exchange", exchange)));
  std::atomic<int> good{0};
  std::vector<std::thread> started;
  for (int t = 0; t < threads; ++t)
    started.emplace_back([&, t] {
      try {
        good += work[static_cast<std::size_t>(t)]->run() && allowed ? 1 : 0;
      } catch (const weft::Error& e) {
        const bool told = std::string(e.what()).find("MPI_THREAD_SERIALIZED") != std::string::npos;
        if (allowed || !told) std::fprintf(stderr, "%s\n", e.what());
        good += !allowed && told ? 1 : 0;
      }
    });
  for (std::thread& t : started) t.join();
  return good == threads;
}

}  // namespace

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "multiple";
  const int wanted = std::strcmp(name, "funneled") == 0     ? MPI_THREAD_FUNNELED
                     : std::strcmp(name, "serialized") == 0 ? MPI_THREAD_SERIALIZED
                                                            : MPI_THREAD_MULTIPLE;
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // What the library gives may be more than was asked for, and is what counts.
  const int good = run_threads(provided >= MPI_THREAD_SERIALIZED) ? 1 : 0;
  int all = 0;
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("threads %s (asked for level %d, given %d): %s\n", name, wanted, provided,
                all != 0 ? "as documented" : "WRONG");
  MPI_Finalize();
  return all != 0 ? 0 : 1;
}
