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
};

/// Some lines, for people.
WEFT_API std::string to_string(const Explanation& explanation);
WEFT_API std::ostream& operator<<(std::ostream& out, const Explanation& explanation);

}  // namespace weft
