// The bridge to MPI: the one public header that includes mpi.h.
#pragma once

#include <mpi.h>

#include "weft/comm.hpp"

namespace weft {

/// See `Comm::mpi`.
template <>
Comm Comm::mpi<MPI_Comm>(MPI_Comm communicator);

}  // namespace weft
