// Copies between strided boxes and coded rows: what kernels/coded_rows.hpp says, with a block of threads as
// the group and one warp for each block of 64 numbers.
#include <algorithm>
#include <cstdint>

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

/// What stores in another device's memory waits for the link, and holds its processors meanwhile: so few
/// blocks keep the link busy, and leave room for FFTs (two H100, 1024^3 with fp32, ms: 24 blocks 30.6,
/// 64 25.2, 132 25.4, as many as there is work for 29.9).
constexpr Index blocks_of_a_link = 64;

template <bool Encodes, class Block, class Real>
__global__ void __launch_bounds__(coding::threads, groups_at_once)
    code(const WEFT_GRID_CONSTANT CodedLoops loops, const CodingFault fault, std::uint32_t groups,
         std::byte* to, const std::byte* from) {
  __shared__ coding::Tile<Real> tile;
  Group group;
  for (std::uint32_t i = blockIdx.x; i < groups; i += gridDim.x)
    coding::code<Encodes, Block>(loops, fault, i, group, tile, to, from);
}

constexpr Index most_groups = 0x7fffffff;

template <class Real>
Status launch(const DeviceCoding& c, std::byte* to, const std::byte* from, StreamHandle stream) {
  const Index groups = coding::groups(c.loops);
  if (groups == 0) return success;
  if (groups > most_groups) return invalid_configuration;
  const auto all = static_cast<std::uint32_t>(groups);
  const auto blocks = static_cast<unsigned>(c.leaves ? std::min(groups, blocks_of_a_link) : groups);
  codec::with_block<Real>(c.request.codec, [&]<class Block>() {
    if (c.request.encodes)
      code<true, Block, Real><<<blocks, coding::threads, 0, stream>>>(c.loops, c.fault, all, to, from);
    else
      code<false, Block, Real><<<blocks, coding::threads, 0, stream>>>(c.loops, c.fault, all, to, from);
  });
  return last_status();
}

}  // namespace

Status enqueue(const DeviceCoding& coding, std::byte* to, const std::byte* from, StreamHandle stream) {
  return coding.request.real_bytes == 8 ? launch<double>(coding, to, from, stream)
                                        : launch<float>(coding, to, from, stream);
}

}  // namespace weft::gpus
