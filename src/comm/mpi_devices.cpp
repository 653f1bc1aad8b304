#include "comm/mpi_devices.hpp"

#include <mpi.h>

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace weft {

std::atomic<const bool*> detail::pretended_mpi_takes_devices{nullptr};

/// Open MPI has a function for the GPUs of each maker in its extensions, MPICH one since 4.0; each defines a
/// macro that says so.
bool mpi_takes_devices() {
  if (const bool* other = detail::pretended_mpi_takes_devices) return *other;
#if defined(WEFT_WITH_HIP) && defined(MPIX_ROCM_AWARE_SUPPORT)
  return MPIX_Query_rocm_support() == 1;
#elif !defined(WEFT_WITH_HIP) && defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
#if defined(WEFT_WITH_HIP)
  constexpr int maker = MPIX_GPU_SUPPORT_HIP;
#else
  constexpr int maker = MPIX_GPU_SUPPORT_CUDA;
#endif
  int supported = 0;
  return MPIX_GPU_query_support(maker, &supported) == MPI_SUCCESS && supported != 0;
#else
  return false;
#endif
}

}  // namespace weft
