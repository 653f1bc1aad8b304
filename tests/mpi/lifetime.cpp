// Life before MPI_Init and after MPI_Finalize: making a communicator is an error with a reason, plans and
// communicators that outlive MPI are destroyed quietly, executing them is an error. Prints one line; exits
// with 1 if anything differs.
#include <mpi.h>

#include <cstdio>
#include <functional>
#include <memory>
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

}  // namespace

int main(int argc, char** argv) {
  bool good = says([] { weft::Comm::mpi(MPI_COMM_WORLD); }, "MPI is not initialised");
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto comm = std::make_unique<weft::Comm>(weft::Comm::mpi(MPI_COMM_WORLD));
  weft::Problem problem;
  problem.shape = {8, 8, 8};
  auto plan = std::make_unique<weft::Plan>(*comm, problem);
  weft::Buffer<std::complex<double>> in(plan->input_count()), out(plan->output_count());
  const std::complex<double>* from = in.data();
  plan->forward(from, out.data());
  MPI_Finalize();
  good = says([&] { plan->forward(from, out.data()); }, "MPI is finalised") && good;
  good = says([&] { weft::Plan second(*comm, problem); }, "MPI is finalised") && good;
  good = says([] { weft::Comm::mpi(MPI_COMM_WORLD); }, "MPI is finalised") && good;
  comm.reset();
  plan.reset();
  if (rank == 0) std::printf("lifetime: %s\n", good ? "as documented" : "WRONG");
  return good ? 0 : 1;
}
