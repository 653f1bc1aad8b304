// Polling: `pause` is called between two checks of a condition that another rank or thread will fulfil. The
// first checks follow each other at once, as most waits are short; later ones yield the core to other
// threads. One object serves one wait.
#pragma once

#include <chrono>
#include <thread>

namespace weft {

class Backoff {
 public:
  void pause() {
    if (at_once_ > 0 && --at_once_ > 0) {
      const auto now = Clock::now();
      if (at_once_ == checks_at_once - 1) end_ = now + time_at_once;
      if (now < end_) return;
      at_once_ = 0;
    }
    std::this_thread::yield();
  }

 private:
  using Clock = std::chrono::steady_clock;
  /// A check may call MPI or the system, which takes microseconds.
  static constexpr int checks_at_once = 64;
  static constexpr auto time_at_once = std::chrono::microseconds(20);
  int at_once_ = checks_at_once;
  Clock::time_point end_{};
};

}  // namespace weft
