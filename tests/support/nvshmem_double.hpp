// A double of NVSHMEM for MPI ranks on the double of the device seam: its heap is memory that devices give to
// other processes, and what it does on a stream is a job of that stream. All ranks of MPI_COMM_WORLD are in
// it.
#pragma once

#include <cstddef>

#include "transport/nvshmem/library.hpp"

namespace weft::test {

const nvshmem::Functions& nvshmem_double();
/// Allocations that there are.
std::size_t nvshmem_double_blocks();
/// How often this process has initialised it.
int nvshmem_double_starts();

}  // namespace weft::test
