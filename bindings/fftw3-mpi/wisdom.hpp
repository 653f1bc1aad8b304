// Wisdom from one rank to others. Weft writes wisdom to files, so that it goes by way of a temporary one.
#pragma once

#include <mpi.h>

namespace weft::fftw3_mpi {

/// Adds the wisdom of all ranks to rank 0's. What goes wrong is said on standard error. Collective.
void gather_wisdom(MPI_Comm communicator) noexcept;

/// Adds the wisdom of rank 0 to that of the others. What goes wrong is said on standard error. Collective.
void broadcast_wisdom(MPI_Comm communicator) noexcept;

}  // namespace weft::fftw3_mpi
