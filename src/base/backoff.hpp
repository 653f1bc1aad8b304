// Polling: `pause` is called between two checks of a condition that another rank or thread will fulfil. The
// first checks follow each other at once, as most waits are short; later ones yield the core to other
// threads. One object serves one wait.
#pragma once

#include <thread>

namespace weft {

class Backoff {
 public:
  void pause() {
    constexpr int checks_at_once = 64;
    if (checks_ < checks_at_once) {
      ++checks_;
    } else {
      std::this_thread::yield();
    }
  }

 private:
  int checks_ = 0;
};

}  // namespace weft
