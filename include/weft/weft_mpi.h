// Weft for C among the ranks of MPI: the one C header that includes mpi.h.
#ifndef WEFT_WEFT_MPI_H
#define WEFT_WEFT_MPI_H

#include <mpi.h>

#include "weft/weft.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The ranks of an MPI communicator. Collective over it. Weft works on a duplicate, which is freed with the
/// last handle or plan that uses it, and may outlive MPI_Finalize. A failure if MPI is not initialised or
/// already finalised, and for MPI_COMM_NULL and intercommunicators.
WEFT_API weft_status weft_comm_mpi(MPI_Comm communicator, weft_comm* comm);
/// The same for Fortran's integer handle.
WEFT_API weft_status weft_comm_mpi_f(MPI_Fint communicator, weft_comm* comm);

#ifdef __cplusplus
}
#endif

#endif
