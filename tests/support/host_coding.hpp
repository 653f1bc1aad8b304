// What kernels of devices do to code rows (kernels/coded_rows.hpp), done by the host, thread by thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "codec/blocks.hpp"
#include "kernels/coded_rows.hpp"
#include "kernels/device_copy.hpp"

namespace weft::test {

struct HostWarp {
  template <class T>
  struct Each {
    std::array<T, coding::warp_threads> of{};
    T& operator[](int lane) { return of[static_cast<std::size_t>(lane)]; }
  };
  template <class F>
  void each(const F& f) {
    for (int lane = 0; lane < coding::warp_threads; ++lane) f(lane);
  }
  template <class F>
  void first(const F& f) {
    f();
  }
  template <class F>
  std::int32_t largest(const F& f) {
    std::int32_t all = f(0);
    each([&](int lane) { all = lane == 0 ? all : std::max(all, f(lane)); });
    return all;
  }
  template <class F>
  std::uint32_t sum(const F& f) {
    std::uint32_t all = 0;
    each([&](int lane) { all += f(lane); });
    return all;
  }
  template <class F>
  unsigned where(const F& f) {
    unsigned lanes = 0;
    each([&](int lane) { lanes |= f(lane) ? 1U << lane : 0U; });
    return lanes;
  }
  template <class F>
  int from(const F& f, int lane) {
    return f(lane);
  }
};

struct HostGroup {
  template <class F>
  void each(const F& f) {
    for (int thread = 0; thread < coding::threads; ++thread) f(thread);
  }
  template <class F>
  void each_warp(const F& f) {
    for (int number = 0; number < coding::warps; ++number) {
      HostWarp warp;
      f(warp, number);
    }
  }
};

template <class Real>
void run_coding_of(const DeviceCoding& c, std::byte* to, const std::byte* from) {
  HostGroup group;
  const auto tile = std::make_unique<coding::Tile<Real>>();
  codec::with_block<Real>(c.request.codec, [&]<class Block>() {
    // Groups come in any order.
    for (auto i = static_cast<std::uint32_t>(coding::groups(c.loops)); i-- > 0;)
      if (c.request.encodes)
        coding::code<true, Block>(c.loops, c.fault, i, group, *tile, to, from);
      else
        coding::code<false, Block>(c.loops, c.fault, i, group, *tile, to, from);
  });
}

inline void run_coding(const DeviceCoding& c, std::byte* to, const std::byte* from) {
  c.request.real_bytes == 8 ? run_coding_of<double>(c, to, from) : run_coding_of<float>(c, to, from);
}

}  // namespace weft::test
