// What planning goes by beside the problem and the user's options: wisdom, what this machine has been
// measured to be like, and trials.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/gather.hpp"
#include "design/wishes.hpp"
#include "tune/search.hpp"
#include "weft/comm.hpp"
#include "weft/options.hpp"

namespace weft {

struct Learnt {
  std::map<std::string, std::string> options;  ///< for those that the user leaves open
  Origin origin = Origin::rule;                ///< of these; `rule`: nothing was found
  MachineConstants constants;
  std::string text;  ///< a line for the printed plan
  /// Of trials, for whoever wants to see them.
  std::vector<std::string> parameters;
  std::vector<Trial> history;  ///< points of these parameters, without what no parameter changes
  double best_seconds = 0;     ///< forward and backward, of the slowest rank
  double trial_seconds = 0;    ///< spent on all of them
  int trials = 0;
};

/// What planning starts from.
struct LearnRequest {
  const Comm& comm;
  const Problem& problem;
  const Options& options;
  const Wishes& wishes;
  const DeviceRanks& devices;
  const Setting& setting;
};

/// Looks a problem up in the wisdom of this process and of the file that option `wisdom` names; if nothing is
/// known of it and the effort asks for trials, makes them, and keeps what they find. Collective; throws the
/// same `weft::Error` on all ranks.
Learnt learn(const LearnRequest& request);

/// Once a plan of arrays on the host is made: with an effort that measures, what its local FFTs have learnt,
/// on any rank, is kept in the file of option `wisdom`, unless trials have seen to that. Collective.
void keep_learnt(const Comm& comm, const Wishes& wishes, const Learnt& found);

}  // namespace weft
