// Says how far trials are: on standard error (WEFT_VERBOSE), and to the program (weft/trial_progress.hpp).
#pragma once

#include <string>

#include "tune/tuner.hpp"
#include "weft/trial_progress.hpp"

namespace weft {

/// "exchange p2p, tile 8"
std::string text_of(const Settings& options);

class TrialReport {
 public:
  struct Limits {
    int trials;
    double seconds;
  };

  /// Says what begins, and where what is found is kept: in `file`, unless that is empty. Nothing is printed
  /// unless WEFT_VERBOSE is on.
  TrialReport(const std::string& title, const Limits& limits, const std::string& file);

  /// Says what was timed last, `seconds` after the beginning.
  void timed(const Tuned& so_far, double seconds) const;

 private:
  TrialProgress progress(const Tuned& so_far, double seconds) const;
  static void print(const TrialProgress& progress);

  Limits limits_;
  bool speaks_;
};

}  // namespace weft
