// A rank that is killed in the middle of an execution of arrays in device memory: streams of the other ranks
// wait for it, or for what they send to it, and the launcher has to end the job all the same.
#include <mpi.h>

#include <complex>
#include <csignal>
#include <iostream>

#include "support/device_mirror.hpp"
#include "support/device_problem.hpp"
#include "support/devices.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) return 0;  // the exchange; no failure, where one is expected
  {
    using namespace weft::test;
    const weft::Comm comm = weft::Comm::mpi(MPI_COMM_WORLD);
    const ScopedDevices devices({.processes = true});
    ScopedDevices::choose(comm.rank() % ScopedDevices::count());
    DeviceMirror mirror;
    weft::Plan plan(comm, on_device(), weft::Options().set("exchange", argv[1]));
    plan.set_stream(static_cast<CUstream_st*>(mirror.stream().native()));
    void* const in = mirror.fresh(plan.buffer_bytes());
    void* const out = mirror.fresh(plan.buffer_bytes());
    for (int i = 0;; ++i) {
      if (i == 3) comm.barrier();  // that it was said below
      if (comm.rank() == 1 && i == 3) std::raise(SIGKILL);
      plan.forward(static_cast<const void*>(in), out);
      plan.wait();
      if (comm.rank() == 0 && i == 2) std::cout << "three executions are done" << std::endl;
    }
  }
}
