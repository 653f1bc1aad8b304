// Copies between strided boxes and coded rows: what kernels/coded_rows.hpp says, with a block of threads as
// the group and one warp for each block of 64 numbers.
#include <algorithm>

#include "codec/blocks.hpp"
#include "kernels/coded_rows.hpp"
#include "kernels/cuda/kernels.hpp"

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

  template <class F>
  __device__ void each(const F& f) {
    f(static_cast<int>(threadIdx.x % coding::warp_threads));
    __syncwarp();
  }
  template <class F>
  __device__ void first(const F& f) {
    if (threadIdx.x % coding::warp_threads == 0) f();
    __syncwarp();
  }
  __device__ std::int32_t largest(Each<std::int32_t>& x) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(whole_warp, x.own);
#else
    return all(x.own, [](std::int32_t a, std::int32_t b) { return a > b ? a : b; });
#endif
  }
  __device__ bool any(Each<bool>& x) {
    return __any_sync(whole_warp, x.own) != 0;
  }
  __device__ std::uint32_t sum(Each<std::uint32_t>& x) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(whole_warp, x.own);
#else
    return all(x.own, [](std::uint32_t a, std::uint32_t b) { return a + b; });
#endif
  }
  /// What the thread of a lane has.
  __device__ std::uint32_t from(Each<std::uint32_t>& x, int lane) {
    return __shfl_sync(whole_warp, x.own, lane);
  }

 private:
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
constexpr int groups_at_once = 5;

template <class Block, class Real>
__global__ void __launch_bounds__(coding::threads, groups_at_once)
    encode(const __grid_constant__ CodedLoops loops, const CodingFault fault, const std::byte* box,
           std::byte* rows) {
  __shared__ coding::Tile<Real> tile;
  Group group;
  coding::encode<Block>(loops, fault, blockIdx.x, group, tile, box, rows);
}

template <class Block, class Real>
__global__ void __launch_bounds__(coding::threads, groups_at_once)
    decode(const __grid_constant__ CodedLoops loops, const CodingFault fault, std::byte* box,
           const std::byte* rows) {
  __shared__ coding::Tile<Real> tile;
  Group group;
  coding::decode<Block>(loops, fault, blockIdx.x, group, tile, box, rows);
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
      encode<Block, Real><<<blocks, coding::threads, 0, stream>>>(c.loops, c.fault, from, to);
    else
      decode<Block, Real><<<blocks, coding::threads, 0, stream>>>(c.loops, c.fault, to, from);
  });
  return cudaGetLastError();
}

}  // namespace

cudaError_t enqueue(const DeviceCoding& coding, std::byte* to, const std::byte* from, cudaStream_t stream) {
  return coding.request.real_bytes == 8 ? launch<double>(coding, to, from, stream)
                                        : launch<float>(coding, to, from, stream);
}

}  // namespace weft::cuda
