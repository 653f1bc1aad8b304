// The processor's caches, as far as the system tells.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft {

/// Bytes of the second-level cache of one core; a modest guess where the system does not say.
std::int64_t second_cache_bytes();

namespace detail {
/// What it says, where this is not 0. Tests lower it to meet with small arrays what large ones do.
extern std::atomic<std::int64_t> pretended_second_cache;
}  // namespace detail

}  // namespace weft
