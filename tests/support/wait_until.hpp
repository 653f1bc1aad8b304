// Waiting for what another thread does.
#pragma once

#include <chrono>
#include <thread>

namespace weft::test {

/// Returns when `done()` is true. Tests run more threads than there are cores: a thread that waits for long
/// sleeps between two looks, so that those that work have the cores.
template <class Done>
void wait_until(const Done& done) {
  constexpr int looks_at_once = 8;
  for (int looks = 0; !done(); ++looks) {
    if (looks < looks_at_once) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
}

}  // namespace weft::test
