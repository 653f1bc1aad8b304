#include "comm/mpi_devices.hpp"

#include <mpi.h>

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace weft {

std::atomic<const bool*> detail::pretended_mpi_takes_devices{nullptr};

/// Open MPI has the function in its extensions, MPICH since 4.0; each defines a macro that says so.
bool mpi_takes_devices() {
  if (const bool* other = detail::pretended_mpi_takes_devices) return *other;
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  int supported = 0;
  return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported) == MPI_SUCCESS && supported != 0;
#else
  return false;
#endif
}

}  // namespace weft
