// What the MPI exchanges share: the datatype of an element, and the narrowing of 64-bit counts to MPI's int,
// which is checked while planning.
#pragma once

#include <mpi.h>

#include <atomic>

#include "transport/transport.hpp"

namespace weft {

/// Throws `weft::Error` if no element has this size.
MPI_Datatype mpi_datatype(int element_bytes);

/// A count or displacement of elements as MPI's int. Throws `weft::Error` if it does not fit.
int mpi_count(Index bytes, int element_bytes);

namespace detail {
/// The largest count that `mpi_count` accepts; tests lower it to meet the limit with small arrays.
extern std::atomic<Index> mpi_count_limit;
}  // namespace detail

}  // namespace weft
