// Copies between strided boxes and coded rows: what kernels/coded_rows.hpp says, with a block of threads as
// the group and one warp for each block of 64 numbers.
#include <algorithm>

#include "codec/blocks.hpp"
#include "kernels/coded_rows.hpp"
#include "kernels/gpu/kernels.hpp"

namespace weft::cuda {

namespace {

constexpr unsigned whole_warp = 0xffffffffU;

struct Warp {
  /// A thread has that of its own lane.
  template <class T>
  struct Each {
    T own;
    __device__ T& operator[](int) { return own; }
  };

  /// Lanes that meet in memory do so in `first`.
  template <class F>
  __device__ void each(const F& f) {
    f(lane());
  }
  template <class F>
  __device__ void first(const F& f) {
    __syncwarp();
    if (lane() == 0) f();
    __syncwarp();
  }
  template <class F>
  __device__ std::int32_t largest(const F& f) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(whole_warp, f(lane()));
#else
    return all(f(lane()), [](std::int32_t a, std::int32_t b) { return a > b ? a : b; });
#endif
  }
  template <class F>
  __device__ std::uint32_t sum(const F& f) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(whole_warp, f(lane()));
#else
    return all(f(lane()), [](std::uint32_t a, std::uint32_t b) { return a + b; });
#endif
  }
  /// The lanes, a bit each, for which f(lane) holds.
  template <class F>
  __device__ unsigned where(const F& f) {
    return __ballot_sync(whole_warp, f(lane()));
  }
  /// f(lane) of one lane.
  template <class F>
  __device__ int from(const F& f, int lane_asked) {
    return __shfl_sync(whole_warp, f(lane()), lane_asked);
  }

 private:
  static __device__ int lane() {
    return static_cast<int>(threadIdx.x % coding::warp_threads);
  }
  template <class T, class Combine>
  __device__ T all(T value, const Combine& combine) {
    for (int distance = coding::warp_threads / 2; distance > 0; distance /= 2)
      value = combine(value, __shfl_xor_sync(whole_warp, value, distance));
    return value;
  }
};

struct Group {
  template <class F>
  __device__ void each(const F& f) {
    f(static_cast<int>(threadIdx.x));
    __syncthreads();
  }
  template <class F>
  __device__ void each_warp(const F& f) {
    Warp warp;
    f(warp, static_cast<int>(threadIdx.x / coding::warp_threads));
    __syncthreads();
  }
};

/// On a processor: what registers have to suffice for, so that enough memory is on its way.
constexpr int groups_at_once = 4;

template <bool Encodes, class Block, class Real>
__global__ void __launch_bounds__(coding::threads, groups_at_once)
    code(const __grid_constant__ CodedLoops loops, const CodingFault fault, std::byte* to,
         const std::byte* from) {
  __shared__ coding::Tile<Real> tile;
  Group group;
  coding::code<Encodes, Block>(loops, fault, blockIdx.x, group, tile, to, from);
}

constexpr Index most_blocks = 0x7fffffff;

template <class Real>
cudaError_t launch(const DeviceCoding& c, std::byte* to, const std::byte* from, cudaStream_t stream) {
  const Index groups = coding::groups(c.loops);
  if (groups == 0) return cudaSuccess;
  if (groups > most_blocks) return cudaErrorInvalidConfiguration;
  const auto blocks = static_cast<unsigned>(groups);
  codec::with_block<Real>(c.request.codec, [&]<class Block>() {
    if (c.request.encodes)
      code<true, Block, Real><<<blocks, coding::threads, 0, stream>>>(c.loops, c.fault, to, from);
    else
      code<false, Block, Real><<<blocks, coding::threads, 0, stream>>>(c.loops, c.fault, to, from);
  });
  return cudaGetLastError();
}

}  // namespace

cudaError_t enqueue(const DeviceCoding& coding, std::byte* to, const std::byte* from, cudaStream_t stream) {
  return coding.request.real_bytes == 8 ? launch<double>(coding, to, from, stream)
                                        : launch<float>(coding, to, from, stream);
}

}  // namespace weft::cuda
