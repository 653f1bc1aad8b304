// Weft's handles of the program's communicators. Weft works on a duplicate, which costs time and one of MPI's
// contexts, so that there is one for all plans on a communicator.
#pragma once

#include <mpi.h>

#include "weft/comm.hpp"

namespace weft::fftw3_mpi {

/// The handle for a communicator. It is kept until the program frees the communicator. Collective the first
/// time.
Comm handle_of(MPI_Comm communicator);

}  // namespace weft::fftw3_mpi
