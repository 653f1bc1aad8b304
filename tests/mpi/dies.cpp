// A rank that is killed in the middle of an execution: the launcher has to end the job, though the other
// ranks wait for it in shared memory, outside MPI, or for what it would have put. Arguments: exchange and
// option one_sided.
#include <mpi.h>

#include <csignal>
#include <iostream>

#include "weft/mpi.hpp"
#include "weft/weft.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const weft::Comm comm = weft::Comm::mpi(MPI_COMM_WORLD);
    weft::Problem problem;
    problem.shape = {48, 48, 48};
    weft::Plan plan(comm, problem,
                    weft::Options()
                        .set("exchange", argc > 1 ? argv[1] : "direct")
                        .set("one_sided", argc > 2 ? argv[2] : "auto"));
    weft::Buffer<std::complex<double>> in(plan.input_count()), out(plan.output_count());
    for (int i = 0;; ++i) {
      if (i == 3) comm.barrier();  // that it was said below
      if (comm.rank() == 1 && i == 3) std::raise(SIGKILL);
      plan.forward(in.data(), out.data());
      if (comm.rank() == 0 && i == 2) std::cout << "three executions are done" << std::endl;
    }
  }
}
