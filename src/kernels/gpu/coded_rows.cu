// Copies between strided boxes and coded rows: what kernels/coded_rows.hpp says, with a block of threads as
// the group and one warp for each block of 64 numbers.
#include <algorithm>

#include "codec/blocks.hpp"
#include "kernels/coded_rows.hpp"
#include "kernels/gpu/kernels.hpp"
#include "kernels/gpu/lanes.hpp"

namespace weft::gpus {

namespace {

/// The lanes of kernels/coded_rows.hpp, a thread each.
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
    f(lanes::own());
  }
  template <class F>
  __device__ void first(const F& f) {
    lanes::meet();
    if (lanes::own() == 0) f();
    lanes::meet();
  }
  template <class F>
  __device__ std::int32_t largest(const F& f) {
    return lanes::largest(f(lanes::own()));
  }
  template <class F>
  __device__ std::uint32_t sum(const F& f) {
    return lanes::sum(f(lanes::own()));
  }
  /// The lanes, a bit each, for which f(lane) holds.
  template <class F>
  __device__ unsigned where(const F& f) {
    return lanes::where(f(lanes::own()));
  }
  /// f(lane) of one lane.
  template <class F>
  __device__ int from(const F& f, int lane) {
    return lanes::from(f(lanes::own()), lane);
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
    code(const WEFT_GRID_CONSTANT CodedLoops loops, const CodingFault fault, std::byte* to,
         const std::byte* from) {
  __shared__ coding::Tile<Real> tile;
  Group group;
  coding::code<Encodes, Block>(loops, fault, blockIdx.x, group, tile, to, from);
}

constexpr Index most_blocks = 0x7fffffff;

template <class Real>
Status launch(const DeviceCoding& c, std::byte* to, const std::byte* from, StreamHandle stream) {
  const Index groups = coding::groups(c.loops);
  if (groups == 0) return success;
  if (groups > most_blocks) return invalid_configuration;
  const auto blocks = static_cast<unsigned>(groups);
  codec::with_block<Real>(c.request.codec, [&]<class Block>() {
    if (c.request.encodes)
      code<true, Block, Real><<<blocks, coding::threads, 0, stream>>>(c.loops, c.fault, to, from);
    else
      code<false, Block, Real><<<blocks, coding::threads, 0, stream>>>(c.loops, c.fault, to, from);
  });
  return last_status();
}

}  // namespace

Status enqueue(const DeviceCoding& coding, std::byte* to, const std::byte* from, StreamHandle stream) {
  return coding.request.real_bytes == 8 ? launch<double>(coding, to, from, stream)
                                        : launch<float>(coding, to, from, stream);
}

}  // namespace weft::gpus
