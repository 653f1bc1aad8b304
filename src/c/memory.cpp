#include "c/memory.hpp"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "c/failure.hpp"
#include "weft/version.hpp"

namespace weft::c {

void* allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  constexpr std::size_t alignment = 64;
  if (bytes > std::numeric_limits<std::size_t>::max() - alignment) throw std::bad_alloc();
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return std::memset(memory, 0, rounded);
}

char* copy_of(const std::string& text) {
  char* const copy = static_cast<char*>(allocate(text.size() + 1));
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace weft::c

using namespace weft::c;

weft_status weft_alloc(size_t bytes, void** memory) {
  return guarded([&] {
    check_given(memory, "memory", "memory");
    *memory = allocate(bytes);
  });
}

void weft_free(void* memory) {
  std::free(memory);
}

const char* weft_version(void) {
  return weft::version();
}
