#include "support/disturbance.hpp"

#include <chrono>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

namespace weft::test {

TestHook disturbance(bool delays, std::ptrdiff_t block_bytes) {
  TestHook hook;
  hook.block_bytes = block_bytes;
  hook.on_workspace = [](std::byte* memory, std::size_t bytes) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i + sizeof nan <= bytes; i += sizeof nan)
      std::memcpy(memory + i, &nan, sizeof nan);
  };
  if (delays)
    hook.at_point = [](const char*, int rank) {
      thread_local std::minstd_rand random(static_cast<unsigned>(rank) + 1);
      if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    };
  return hook;
}

}  // namespace weft::test
