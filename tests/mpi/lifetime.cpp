// Life before MPI_Init and after MPI_Finalize: making a communicator is an error with a reason, plans and
// communicators that outlive MPI are destroyed quietly, executing them is an error; the timeline of such a
// plan is written all the same. Argument: an exchange that puts, if there is one. Prints one line; exits with
// 1 if anything differs.
#include <mpi.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>

#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace {

bool says(const std::function<void()>& f, const std::string& text) {
  try {
    f();
  } catch (const weft::Error& e) {
    if (std::string(e.what()).find(text) != std::string::npos) return true;
    std::fprintf(stderr, "says %s, not %s\n", e.what(), text.c_str());
    return false;
  }
  std::fprintf(stderr, "no error that says %s\n", text.c_str());
  return false;
}

/// Whether the timeline has an execution of this rank.
bool is_traced(const char* file, int rank) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  const std::string lane = "\"tid\":" + std::to_string(rank) + ",\"cat\":\"execution\"";
  if (text.str().find(lane) != std::string::npos) return true;
  std::fprintf(stderr, "%s has not %s\n", file, lane.c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  bool good = says([] { weft::Comm::mpi(MPI_COMM_WORLD); }, "MPI is not initialised");
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto comm = std::make_unique<weft::Comm>(weft::Comm::mpi(MPI_COMM_WORLD));
  weft::Problem problem;
  problem.shape = {8, 8, 8};
  const char* const trace = "weft_lifetime_trace.json";
  const auto options = weft::Options().set("trace", trace);
  auto plan = std::make_unique<weft::Plan>(*comm, problem, options);
  weft::Buffer<std::complex<double>> in(plan->input_count()), out(plan->output_count());
  const std::complex<double>* from = in.data();
  plan->forward(from, out.data());
  // What others put into is registered until then.
  std::unique_ptr<weft::Plan> puts;
  if (argc > 1) {
    puts = std::make_unique<weft::Plan>(*comm, problem,
                                        weft::Options().set("exchange", argv[1]).set("one_sided", "on"));
    puts->forward(from, out.data());
  }
  // What it has given of its last execution is under way.
  auto tuned = std::make_unique<weft::Plan>(*comm, problem, weft::Options().set("effort", "online"));
  tuned->forward(from, out.data());
  // Some ranks say what an execution took, and others destroy the plan before: here, where nothing is sent.
  problem.transforms = {weft::Transform::none, weft::Transform::c2c, weft::Transform::c2c};
  problem.output = weft::Distribution::slab(0);
  auto unequal = std::make_unique<weft::Plan>(*comm, problem, weft::Options().set("effort", "online"));
  if (rank > 0) unequal->forward(from, out.data());
  if (rank == 1) unequal.reset();
  MPI_Finalize();
  good = says([&] { plan->forward(from, out.data()); }, "MPI is finalised") && good;
  good = says([&] { weft::Plan second(*comm, problem); }, "MPI is finalised") && good;
  good = says([] { weft::Comm::mpi(MPI_COMM_WORLD); }, "MPI is finalised") && good;
  good = says([&] { tuned->forward(from, out.data()); }, "MPI is finalised") && good;
  comm.reset();
  plan.reset();
  tuned.reset();
  unequal.reset();
  good = is_traced(trace, rank) && good;
  if (rank == 0) std::printf("lifetime: %s\n", good ? "as documented" : "WRONG");
  return good ? 0 : 1;
}
