#include "support/new_counter.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> counting{false};
std::atomic<long> allocations{0};

struct Refusing {
  bool on = false, once = false;
  long after = 0, refused = 0;

  bool refuses() {
    if (!on || after-- > 0) return false;
    on = !once;
    ++refused;
    return true;
  }
};
thread_local Refusing refusing;

}  // namespace

void* operator new(std::size_t bytes) {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
  if (refusing.refuses()) throw std::bad_alloc();
  void* p = std::malloc(bytes);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

namespace weft::test {

void begin_counting_news() {
  allocations = 0;
  counting = true;
}
long end_counting_news() {
  counting = false;
  return allocations;
}

void begin_refusing_news(long after, bool once) {
  refusing = {true, once, after};
}
long end_refusing_news() {
  refusing.on = false;
  return refusing.refused;
}

}  // namespace weft::test
