// Whether MPI accepts device memory in its calls. MPI is asked, as trying would crash: an MPI that does not
// accept device memory reads it as host memory.
#pragma once

#include <atomic>

namespace weft {

/// What MPI says on this rank, once it is initialised; false if MPI has no function to ask.
bool mpi_takes_devices();

namespace detail {
/// If not null, the answer that communicators made from now on take for MPI's. For tests.
extern std::atomic<const bool*> pretended_mpi_takes_devices;
}  // namespace detail

}  // namespace weft
