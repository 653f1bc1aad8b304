// What the MPI exchanges share: the datatype of an element, and the narrowing of 64-bit counts to MPI's int,
// which is checked while planning.
#pragma once

#include <mpi.h>

#include "transport/transport.hpp"

namespace weft {

MPI_Datatype mpi_datatype(int element_bytes);

/// A count or displacement of elements as MPI's int. Throws `weft::Error` if it does not fit.
int mpi_count(Index bytes, int element_bytes);

/// The largest count that `mpi_count` accepts; tests lower it to meet the limit with small arrays.
Index mpi_count_limit();
void set_mpi_count_limit(Index limit);

}  // namespace weft
