#include "base/cache.hpp"

#include <unistd.h>

namespace weft {

std::int64_t second_cache_bytes() {
  constexpr std::int64_t guess = 1 << 20;
#ifdef _SC_LEVEL2_CACHE_SIZE
  const long told = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (told > 0) return told;
#endif
  return guess;
}

}  // namespace weft
