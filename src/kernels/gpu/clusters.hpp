// Clusters: blocks of threads that run at the same time, and reach each other's shared memory. CUDA has them
// from compute capability 9.0 on, HIP has none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/gpu/runtime.hpp"

#if !defined(WEFT_WITH_HIP)
#include <cooperative_groups.h>
#endif

namespace weft::gpus {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define WEFT_IN_CLUSTER(...) __VA_ARGS__
#else
#define WEFT_IN_CLUSTER(...)
#endif

/// The cluster of the calling block. Kernels with one are compiled for devices without clusters as well, and
/// never launched there: `most_of_cluster` says so.
struct Cluster {
  /// Of the calling block.
  __device__ std::uint32_t number() const {
    WEFT_IN_CLUSTER(return cooperative_groups::this_cluster().block_rank();)
    return 0;
  }
  /// The same shared memory of block number `k`.
  template <class T>
  __device__ T* of(T* mine, [[maybe_unused]] std::uint32_t k) const {
    WEFT_IN_CLUSTER(return cooperative_groups::this_cluster().map_shared_rank(mine, static_cast<int>(k));)
    return mine;
  }
  /// All threads of all blocks arrive, and then wait until all have arrived. What was stored before that is
  /// seen behind it; where threads arrive by `begin`, it is not.
  __device__ void begin() const { WEFT_IN_CLUSTER(__cluster_barrier_arrive_relaxed();) }
  __device__ void arrive() const { WEFT_IN_CLUSTER(__cluster_barrier_arrive();) }
  __device__ void wait() const { WEFT_IN_CLUSTER(__cluster_barrier_wait();) }
};

#undef WEFT_IN_CLUSTER

#if defined(WEFT_WITH_HIP)

inline Status most_of_cluster(const void*, int, int& blocks) {
  blocks = 1;
  return success;
}
template <class Kernel, class... Arguments>
Status launch_clusters(Kernel, unsigned, unsigned, unsigned, std::size_t, StreamHandle, const Arguments&...) {
  return invalid_configuration;
}

#else

/// How many blocks a cluster of the kernel can have on the current device: `most`, which is at most the eight
/// that all devices with clusters have; or 1 if the device has none, or the kernel was compiled for devices
/// without.
inline Status most_of_cluster(const void* kernel, int most, int& blocks) {
  int device = 0, has_clusters = 0;
  cudaFuncAttributes attributes{};
  blocks = 1;
  Status status = cudaGetDevice(&device);
  if (status == success) status = cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, device);
  if (status != success || has_clusters == 0) return status;
  status = cudaFuncGetAttributes(&attributes, kernel);
  constexpr int first_with_clusters = 90;
  if (status == success && attributes.ptxVersion >= first_with_clusters) blocks = most;
  return status;
}

/// Launches so many clusters of so many blocks each.
template <class Kernel, class... Arguments>
Status launch_clusters(Kernel kernel, unsigned clusters, unsigned blocks, unsigned threads,
                       std::size_t shared_bytes, StreamHandle stream, const Arguments&... arguments) {
  cudaLaunchAttribute size{};
  size.id = cudaLaunchAttributeClusterDimension;
  size.val.clusterDim = {blocks, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(clusters * blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &size;
  config.numAttrs = 1;
  const Status status = cudaLaunchKernelEx(&config, kernel, arguments...);
  static_cast<void>(last_status());
  return status;
}

#endif

}  // namespace weft::gpus
