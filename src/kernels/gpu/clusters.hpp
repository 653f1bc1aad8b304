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

/// The cluster of the calling block.
class Cluster {
 public:
  /// Of the calling block.
  __device__ std::uint32_t number() const { return group_.block_rank(); }
  /// The same shared memory of block number `k`.
  template <class T>
  __device__ T* of(T* mine, std::uint32_t k) const {
    return group_.map_shared_rank(mine, static_cast<int>(k));
  }
  /// All threads of all blocks arrive, and then wait until all have arrived. What was stored before that is
  /// seen behind it; where threads arrive by `begin`, it is not.
  __device__ void begin() const { __cluster_barrier_arrive_relaxed(); }
  __device__ void arrive() const { __cluster_barrier_arrive(); }
  __device__ void wait() const { __cluster_barrier_wait(); }

 private:
  cooperative_groups::cluster_group group_ = cooperative_groups::this_cluster();
};

#else

/// Never launched: `most_of_cluster` says so.
class Cluster {
 public:
  __device__ std::uint32_t number() const { return 0; }
  template <class T>
  __device__ T* of(T* mine, std::uint32_t) const {
    return mine;
  }
  __device__ void begin() const {}
  __device__ void arrive() const {}
  __device__ void wait() const {}
};

#endif

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

/// How many blocks, of at most `most`, a cluster of the kernel can have on the current device; 1 if the
/// device has none, or the kernel was compiled for devices without.
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
