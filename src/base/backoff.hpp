// What a rank does between two looks for something that others bring. It comes soon mostly, so the first
// looks follow each other at once; then anybody else may have the core. An object serves one wait.
#pragma once

#include <thread>

namespace weft {

class Backoff {
 public:
  void pause() {
    constexpr int looks = 64;
    if (looks_ < looks) {
      ++looks_;
    } else {
      std::this_thread::yield();
    }
  }

 private:
  int looks_ = 0;
};

}  // namespace weft
