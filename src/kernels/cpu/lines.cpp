#include "kernels/cpu/lines.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#define WEFT_LINES_X86
#include <immintrin.h>
#endif

namespace weft {

namespace {

constexpr std::size_t line_bytes = 64;

#ifdef WEFT_LINES_X86

/// Stores whole vectors to aligned addresses with `store`, and copies the bytes before and after them.
template <std::size_t Vector, class Store>
__attribute__((always_inline)) inline void store_past(const std::byte* from, std::byte* to, std::size_t bytes,
                                                      const Store& store) {
  const std::size_t before =
      std::min(bytes, (Vector - reinterpret_cast<std::uintptr_t>(to) % Vector) % Vector);
  std::memcpy(to, from, before);
  std::size_t at = before;
  for (; at + Vector <= bytes; at += Vector) store(from + at, to + at);
  std::memcpy(to + at, from + at, bytes - at);
}

__attribute__((target("avx512f"))) void store_avx512(const std::byte* from, std::byte* to,
                                                     std::size_t bytes) {
  store_past<64>(
      from, to, bytes, [](const std::byte* f, std::byte* t) __attribute__((target("avx512f"))) {
        _mm512_stream_si512(reinterpret_cast<__m512i*>(t), _mm512_loadu_si512(f));
      });
}

__attribute__((target("avx2"))) void store_avx2(const std::byte* from, std::byte* to, std::size_t bytes) {
  store_past<32>(
      from, to, bytes, [](const std::byte* f, std::byte* t) __attribute__((target("avx2"))) {
        _mm256_stream_si256(reinterpret_cast<__m256i*>(t),
                            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(f)));
      });
}

void store_sse2(const std::byte* from, std::byte* to, std::size_t bytes) {
  store_past<16>(from, to, bytes, [](const std::byte* f, std::byte* t) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(t), _mm_loadu_si128(reinterpret_cast<const __m128i*>(f)));
  });
}

/// Copies cache line by cache line with `copy`. Prefetched addresses may lie beyond the end of the array.
template <class Copy>
__attribute__((always_inline)) inline void load_ahead(const std::byte* from, std::byte* to, std::size_t bytes,
                                                      std::ptrdiff_t ahead, const Copy& copy) {
  const std::byte* const wanted = from + ahead;
  std::size_t at = 0;
  for (; at + line_bytes <= bytes; at += line_bytes) {
    _mm_prefetch(wanted + at, _MM_HINT_T0);
    copy(from + at, to + at);
  }
  std::memcpy(to + at, from + at, bytes - at);
}

__attribute__((target("avx512f"))) void load_avx512(const std::byte* from, std::byte* to, std::size_t bytes,
                                                    std::ptrdiff_t ahead) {
  load_ahead(
      from, to, bytes, ahead, [](const std::byte* f, std::byte* t) __attribute__((target("avx512f"))) {
        _mm512_storeu_si512(t, _mm512_loadu_si512(f));
      });
}

void load_any(const std::byte* from, std::byte* to, std::size_t bytes, std::ptrdiff_t ahead) {
  load_ahead(from, to, bytes, ahead, [](const std::byte* f, std::byte* t) { std::memcpy(t, f, line_bytes); });
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
#ifdef WEFT_LINES_X86
    LineKernel{"avx512", has_avx512, store_avx512, load_avx512, fence},
    LineKernel{"avx2", has_avx2, store_avx2, load_any, fence},
    LineKernel{"sse2", always, store_sse2, load_any, fence},
#endif
    LineKernel{"portable", always,
               [](const std::byte* from, std::byte* to, std::size_t bytes) { std::memcpy(to, from, bytes); },
               [](const std::byte* from, std::byte* to, std::size_t bytes, std::ptrdiff_t) {
                 std::memcpy(to, from, bytes);
               },
               [] {}},
};

}  // namespace

std::span<const LineKernel> line_kernels() {
  return table;
}

const LineKernel& line_kernel() {
  static const LineKernel& best =
      *std::find_if(table.begin(), table.end(), [](const LineKernel& k) { return k.runs_here(); });
  return best;
}

}  // namespace weft
