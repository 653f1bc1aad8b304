// Why a plan is as it is: what else could have been, and what each was predicted or measured to take.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "weft/export.hpp"

namespace weft {

/// Options that a plan could have, beside those that the program has set.
struct Candidate {
  std::map<std::string, std::string> options;  ///< name -> value; none: as the rules choose
  std::string summary;     ///< "slab, p2pw, two-front, strided": what these options make; "" if not known
  double predicted_s = 0;  ///< seconds of forward and backward on the slowest rank; 0: not predicted
  double measured_s = 0;   ///< the same, by a trial; 0: none was made
  std::string why;         ///< what it does worse or better than the chosen one, in words; "" if not known
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// One of the executions that a plan with effort online tries with.
struct OnlineExecution {
  bool forward = true;                         ///< or backward
  std::map<std::string, std::string> options;  ///< beside those that the program has set
  bool tried = false;                          ///< whether that was a try, and not the best that was known
  double seconds = 0;      ///< from when the last rank began to when the last one was done
  double making_s = 0;     ///< what making this plan took before
  bool disturbed = false;  ///< other plans of the ranks were under way: the time says nothing
};

/// How a plan with effort online was tuned.
struct OnlineTuning {
  std::string state;    ///< in words, such as "trying, 7 of 20 executions"; "" for other efforts
  bool trying = false;  ///< whether executions may still change the plan
  int tried = 0;        ///< plans that were tried beside the first
  double ratio = 1;     ///< the time of the best plan over that of the first one
  std::vector<OnlineExecution> executions;  ///< of the last time that it was tuned
};

/// Why a plan is as it is, as `Plan::explain` says it.
struct Explanation {
  std::string chosen;                 ///< by whom and why, in words
  std::vector<Candidate> candidates;  ///< the chosen one, then from the fastest to the slowest
  // Of the chosen plan on the described machine; zeros and empty texts without a description.
  double predicted_s = 0;  ///< seconds of forward and backward together
  double compute_s = 0;    ///< of these, the local work of the rank with most
  double wire_s = 0;       ///< and what the network needs for the bytes of the rank with most
  /// Seconds of the critical path by kind of operation; "link": what is on the way.
  std::map<std::string, double> hangs_on;
  // If the plan cannot be predicted, `bound` says why, and `predicted_s` is 0.
  std::string bound;                ///< what it is bound by, in words
  std::vector<std::string> advice;  ///< what would make it faster, by how much, as far as it was predicted
  OnlineTuning online;
};

/// Some lines, for people.
WEFT_API std::string to_string(const Explanation& explanation);
/// A line for each execution that tried; "" for other efforts than online.
WEFT_API std::string to_string(const OnlineTuning& online);
WEFT_API std::ostream& operator<<(std::ostream& out, const Explanation& explanation);

}  // namespace weft
