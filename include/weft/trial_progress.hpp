// How a program watches trials, which may take a minute, as a command line does.
#pragma once

#include <map>
#include <string>

#include "weft/export.hpp"

namespace weft {

/// What was timed last, and how far the trials are.
struct TrialProgress {
  std::string round;               ///< why: candidate, play-off, point, final (docs/tuning.md)
  int trial = 0, most_trials = 0;  ///< candidates and points so far, and how many there are at most
  std::map<std::string, std::string> options;  ///< what was timed; none: as the rules choose
  double seconds = 0;  ///< forward and backward on the slowest rank; infinite: impossible
  /// The best of its round so far. The last round but those of points, whose times leave out what parameters
  /// do not change, decides.
  std::map<std::string, std::string> best_options;
  double best_seconds = 0;
  bool is_best = false;     ///< whether it is what was timed last
  double seconds_left = 0;  ///< of the budget
};

/// Lets planning with effort measure or patient call `told` whenever something has been timed, on rank 0's
/// thread. It must not throw; all ranks wait for it. Null, as at first: nobody is told. Holds for the whole
/// process, at once. Local.
WEFT_API void report_trials_to(void (*told)(const TrialProgress&)) noexcept;

}  // namespace weft
