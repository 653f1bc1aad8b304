// Weft's handles of the program's communicators. Weft works on a duplicate, which costs time and one of MPI's
// contexts, so that there is one for all plans on a communicator.
#pragma once

#include <mpi.h>

#include "weft/comm.hpp"

namespace weft::fftw3_mpi {

/// The handle for a communicator. It is kept until the program frees the communicator, or
/// `forget_communicators`. Collective the first time.
Comm handle_of(MPI_Comm communicator);

/// Gives up all handles, in the order in which they were made; plans keep theirs as long as they live.
/// Collective over all of these communicators.
void forget_communicators();

}  // namespace weft::fftw3_mpi
