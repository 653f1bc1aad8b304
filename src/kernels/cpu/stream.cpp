#include "kernels/cpu/stream.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#define WEFT_STREAM_X86
#include <immintrin.h>
#endif

namespace weft {

namespace {

#ifdef WEFT_STREAM_X86

/// Streams whole vectors to aligned addresses with `store`, and copies what is before and behind them.
template <std::size_t Vector, class Store>
__attribute__((always_inline)) inline void stream(const std::byte* from, std::byte* to, std::size_t bytes,
                                                  const Store& store) {
  const std::size_t before =
      std::min(bytes, (Vector - reinterpret_cast<std::uintptr_t>(to) % Vector) % Vector);
  std::memcpy(to, from, before);
  std::size_t at = before;
  for (; at + Vector <= bytes; at += Vector) store(from + at, to + at);
  std::memcpy(to + at, from + at, bytes - at);
}

__attribute__((target("avx512f"))) void copy_avx512(const std::byte* from, std::byte* to, std::size_t bytes) {
  stream<64>(
      from, to, bytes, [](const std::byte* f, std::byte* t) __attribute__((target("avx512f"))) {
        _mm512_stream_si512(reinterpret_cast<__m512i*>(t), _mm512_loadu_si512(f));
      });
}

__attribute__((target("avx2"))) void copy_avx2(const std::byte* from, std::byte* to, std::size_t bytes) {
  stream<32>(
      from, to, bytes, [](const std::byte* f, std::byte* t) __attribute__((target("avx2"))) {
        _mm256_stream_si256(reinterpret_cast<__m256i*>(t),
                            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(f)));
      });
}

void copy_sse2(const std::byte* from, std::byte* to, std::size_t bytes) {
  stream<16>(from, to, bytes, [](const std::byte* f, std::byte* t) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(t), _mm_loadu_si128(reinterpret_cast<const __m128i*>(f)));
  });
}

void fence() {
  _mm_sfence();
}

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") != 0;
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0;
}

#endif

bool always() {
  return true;
}

constexpr std::array table{
#ifdef WEFT_STREAM_X86
    StreamKernel{"avx512", has_avx512, copy_avx512, fence},
    StreamKernel{"avx2", has_avx2, copy_avx2, fence},
    StreamKernel{"sse2", always, copy_sse2, fence},
#endif
    StreamKernel{
        "portable", always,
        [](const std::byte* from, std::byte* to, std::size_t bytes) { std::memcpy(to, from, bytes); }, [] {}},
};

}  // namespace

std::span<const StreamKernel> stream_kernels() {
  return table;
}

const StreamKernel& stream_kernel() {
  static const StreamKernel& best =
      *std::find_if(table.begin(), table.end(), [](const StreamKernel& k) { return k.runs_here(); });
  return best;
}

}  // namespace weft
