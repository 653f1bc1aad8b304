// What FFTW-MPI's functions of local sizes return.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace weft::fftw3_mpi {

/// Rows of the first and of the second dimension on this rank, and the room that an array needs.
struct LocalSize {
  ptrdiff_t n0, start0, n1, start1, room;
};

/// Local. Ends the program, as FFTW does, for one dimension on several ranks with fewer than these of numbers
/// in a point: `line_size` tells what is different on both sides there.
LocalSize local_size(int rank, const ptrdiff_t* n, ptrdiff_t howmany, ptrdiff_t block0, ptrdiff_t block1,
                     MPI_Comm communicator) noexcept;

/// The same of a transform of one dimension: `n0` and `start0` of its input, `n1` and `start1` of its output.
LocalSize line_size(ptrdiff_t n, ptrdiff_t howmany, int sign, unsigned flags, MPI_Comm communicator) noexcept;

}  // namespace weft::fftw3_mpi
