// Whether MPI takes memory of devices where it takes memory of the host. It is asked and never tried: an MPI
// that does not would read such memory as its own and crash.
#pragma once

namespace weft {

/// What MPI says on this rank, once it is initialised; one that cannot be asked has not said so.
bool mpi_takes_devices();

/// MPI is taken to say this from now on, in communicators that are made later; null: what it says. For tests.
void replace_mpi_takes_devices(const bool* answer);

}  // namespace weft
