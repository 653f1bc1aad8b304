// The size of the processor's cache, as the operating system reports it.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft {

/// Bytes of the second-level cache of one core; 1 MiB if the system does not report it.
std::int64_t second_cache_bytes();

namespace detail {
/// Replaces the size if not 0. With a small value, tests see on small arrays what happens on large ones.
extern std::atomic<std::int64_t> pretended_second_cache;
}  // namespace detail

}  // namespace weft
