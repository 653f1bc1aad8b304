// What a timed replay says: the time, what it is spent on, which operations it hangs on one after the other,
// and how far it is from what the machine could do at best.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/timed_replay.hpp"

namespace weft {

/// The networks that exchanges on rails are predicted with.
struct PredictedRails {
  int used = 0;            ///< at a time; 0: nothing goes over rails
  int wanted = 0;          ///< by the plan; 0: all that there are
  int described = 0;       ///< 0: one is assumed, as other exchanges find it
  double bytes_per_s = 0;  ///< that a machine sends by them
  friend bool operator==(const PredictedRails&, const PredictedRails&) = default;
};

struct Prediction {
  double seconds = 0;                        ///< of the slowest rank
  std::map<std::string, double> activities;  ///< of the slowest rank: "fft", "wait", ... (`activity_of`)
  std::vector<std::pair<int, double>>
      stages;  ///< of the slowest rank: local seconds by stage of the schedule
  /// By activity, what the time hangs on from the end back to the beginning, over all ranks; "link": parts
  /// and flags that travel.
  std::map<std::string, double> critical;
  double compute_s = 0;  ///< of the rank with most: its local operations alone, on devices of one stream
  double wire_s = 0;     ///< of the rank with most: its bytes to other machines over their bandwidth
  PredictedRails rails;
  /// The larger of the two.
  double bound_s() const { return std::max(compute_s, wire_s); }
};

Prediction summarise(const Replayed& replayed, const ReplayRequest& request);

/// A line: "2 rails at a time, by which a machine sends 230 MB/s"; or nothing.
std::string to_string(const PredictedRails& rails);

/// Some lines: "predicted 12.3 ms: fft 5.1, ...".
std::string to_string(const Prediction& prediction);

}  // namespace weft
