// The bridge to MPI: the one public header that includes mpi.h.
#pragma once

#include <mpi.h>

#include "weft/comm.hpp"
#include "weft/export.hpp"

namespace weft {

/// See `Comm::mpi`.
template <>
WEFT_API Comm Comm::mpi<MPI_Comm>(MPI_Comm communicator);

}  // namespace weft
