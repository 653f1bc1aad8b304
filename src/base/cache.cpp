#include "base/cache.hpp"

#include <unistd.h>

#include <atomic>

namespace weft {

namespace {
std::atomic<std::int64_t> pretended{0};
}

void set_second_cache_bytes(std::int64_t bytes) {
  pretended.store(bytes);
}

std::int64_t second_cache_bytes() {
  if (const std::int64_t bytes = pretended.load(); bytes > 0) return bytes;
  constexpr std::int64_t guess = 1 << 20;
#ifdef _SC_LEVEL2_CACHE_SIZE
  const long told = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (told > 0) return told;
#endif
  return guess;
}

}  // namespace weft
