// The processor's caches, as far as the system tells.
#pragma once

#include <cstdint>

namespace weft {

/// Bytes of the second-level cache of one core; a modest guess where the system does not say.
std::int64_t second_cache_bytes();

/// What it says from now on; 0: the truth. Tests lower it to meet with small arrays what large ones do.
void set_second_cache_bytes(std::int64_t bytes);

}  // namespace weft
