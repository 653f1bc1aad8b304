// What 32 adjacent threads, the lanes, tell each other without memory. They are CUDA's warp. AMD's wavefront
// has 64 threads, or 32: there they are a half of one, or one.
#pragma once

#include <cstdint>

#include "kernels/gpu/runtime.hpp"

namespace weft::gpus::lanes {

inline constexpr int count = 32;

/// The number of the calling thread among them.
inline __device__ int own() {
  return static_cast<int>(threadIdx.x % count);
}

#if defined(WEFT_WITH_HIP)

/// What each has stored in shared memory before is seen by all after. The threads of a wavefront take each
/// step together; this keeps the compiler from moving accesses.
inline __device__ void meet() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

/// The value of another lane.
template <class T>
__device__ T from(T value, int lane) {
  return __shfl(value, lane, count);
}
template <class T>
__device__ T across(T value, int distance) {
  return __shfl_xor(value, distance, count);
}

/// The lanes for which it holds, a bit each.
inline __device__ unsigned where(bool holds) {
  const unsigned first = __lane_id() & ~unsigned{count - 1};
  return static_cast<unsigned>(static_cast<std::uint64_t>(__ballot(holds)) >> first);
}

#else

inline constexpr unsigned whole_warp = 0xffffffffU;

inline __device__ void meet() {
  __syncwarp();
}

template <class T>
__device__ T from(T value, int lane) {
  return __shfl_sync(whole_warp, value, lane);
}
template <class T>
__device__ T across(T value, int distance) {
  return __shfl_xor_sync(whole_warp, value, distance);
}

inline __device__ unsigned where(bool holds) {
  return __ballot_sync(whole_warp, holds);
}

#endif

/// The value of all lanes combined, in all lanes.
template <class T, class Combine>
__device__ T all(T value, const Combine& combine) {
  for (int distance = count / 2; distance > 0; distance /= 2) value = combine(value, across(value, distance));
  return value;
}

inline __device__ std::int32_t largest(std::int32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(whole_warp, value);
#else
  return all(value, [](std::int32_t a, std::int32_t b) { return a > b ? a : b; });
#endif
}

inline __device__ std::uint32_t sum(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(whole_warp, value);
#else
  return all(value, [](std::uint32_t a, std::uint32_t b) { return a + b; });
#endif
}

}  // namespace weft::gpus::lanes
