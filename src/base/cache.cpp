#include "base/cache.hpp"

#include <unistd.h>

namespace weft {

std::atomic<std::int64_t> detail::pretended_second_cache{0};

std::int64_t second_cache_bytes() {
  if (const std::int64_t bytes = detail::pretended_second_cache.load(); bytes > 0) return bytes;
  constexpr std::int64_t guess = 1 << 20;
#ifdef _SC_LEVEL2_CACHE_SIZE
  const long reported = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (reported > 0) return reported;
#endif
  return guess;
}

}  // namespace weft
