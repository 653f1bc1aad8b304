// Ranks of MPI for C and, by their integer, for Fortran.
#include "weft/mpi.hpp"

#include "c/failure.hpp"
#include "c/handles.hpp"
#include "weft/weft_mpi.h"

using namespace weft::c;
using weft::Comm;

weft_status weft_comm_mpi(MPI_Comm communicator, weft_comm* comm) {
  return guarded([&] {
    check_given(comm, "comm", "comm");
    Place place;
    *comm = place.hold<weft_comm>(std::make_unique<Comm>(Comm::mpi(communicator)));
  });
}

weft_status weft_comm_mpi_f(MPI_Fint communicator, weft_comm* comm) {
  return weft_comm_mpi(MPI_Comm_f2c(communicator), comm);
}
