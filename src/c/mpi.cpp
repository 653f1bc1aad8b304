// Ranks of MPI for C and, by their integer, for Fortran.
#include "weft/mpi.hpp"

#include "c/failure.hpp"
#include "c/handles.hpp"
#include "comm/mpi_world.hpp"
#include "weft/weft_mpi.h"

using namespace weft::c;
using weft::Comm;

weft_status weft_comm_mpi(MPI_Comm communicator, weft_comm* comm) {
  return guarded([&] {
    auto mine = std::make_unique<Comm>(Comm::mpi(communicator));  // the other ranks wait for this one
    check_given(comm, "comm", "comm");
    *comm = new_handle<weft_comm>(std::move(mine));
  });
}

weft_status weft_comm_mpi_f(MPI_Fint communicator, weft_comm* comm) {
  // Open MPI's MPI_Comm_f2c ends the program where there is no MPI; weft_comm_mpi says so instead.
  return weft_comm_mpi(weft::mpi_alive() ? MPI_Comm_f2c(communicator) : MPI_COMM_NULL, comm);
}
