#include "support/allocations.hpp"

#include <atomic>
#include <cstdlib>

namespace {

std::atomic<bool> counting{false};
std::atomic<long> allocations{0};
thread_local int aside = 0;

void count() {
  if (counting.load(std::memory_order_relaxed) && aside == 0)
    allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
  count();
  return __libc_malloc(bytes);
}
void* calloc(std::size_t n, std::size_t bytes) {
  count();
  return __libc_calloc(n, bytes);
}
void* realloc(void* p, std::size_t bytes) {
  count();
  return __libc_realloc(p, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** p, std::size_t alignment, std::size_t bytes) {
  count();
  *p = __libc_memalign(alignment, bytes);
  return *p == nullptr ? 12 : 0;
}
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace weft::test {

void begin_counting() {
  allocations = 0;
  counting = true;
}

long end_counting() {
  counting = false;
  return allocations;
}

void stand_aside(bool on) {
  aside += on ? 1 : -1;
}

}  // namespace weft::test
