// What a rank does between two looks for something that others bring. It comes soon mostly, so the first
// looks follow each other at once; then anybody else may have the core. Where a yield shows that others
// compute there, ranks outnumber cores, and the scheduler gives one that only yields as large a share as
// them: then it sleeps for a while, before it yields again.
#pragma once

#include <chrono>
#include <thread>

namespace weft {

class Backoff {
 public:
  void pause() {
    constexpr int looks = 64, sleeps = 8;
    if (looks_ < looks) {
      ++looks_;
    } else if (sleeps_ > 0) {
      --sleeps_;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    } else {
      using Clock = std::chrono::steady_clock;
      const Clock::time_point since = Clock::now();
      std::this_thread::yield();
      // Alone on a core a yield takes one, among others that only yield a few.
      if (Clock::now() - since > std::chrono::microseconds(20)) sleeps_ = sleeps;
    }
  }

 private:
  int looks_ = 0, sleeps_ = 0;
};

}  // namespace weft
