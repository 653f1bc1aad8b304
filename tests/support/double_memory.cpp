#include "support/double_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "weft/error.hpp"

namespace weft::test::device_double {

void fail(const std::string& what) {
  throw Error("device double", what, "what a GPU can do");
}

std::byte* map(const Given& given) {
  const std::string path = "/proc/" + std::to_string(given.process) + "/fd/" + std::to_string(given.file);
  const bool mine = given.process == getpid();
  const int file = mine ? given.file : open(path.c_str(), O_RDWR | O_CLOEXEC);
  void* const memory = mmap(nullptr, given.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (!mine) close(file);
  if (memory == MAP_FAILED) fail("memory of another process that cannot be mapped");
  return static_cast<std::byte*>(memory);
}

}  // namespace weft::test::device_double
