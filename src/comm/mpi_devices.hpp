// Whether MPI takes memory of devices where it takes memory of the host. It is asked and never tried: an MPI
// that does not would read such memory as its own and crash.
#pragma once

#include <atomic>

namespace weft {

/// What MPI says on this rank, once it is initialised; one that cannot be asked has not said so.
bool mpi_takes_devices();

namespace detail {
/// What MPI is taken to say when a communicator is made, where this is not null. For tests.
extern std::atomic<const bool*> pretended_mpi_takes_devices;
}  // namespace detail

}  // namespace weft
