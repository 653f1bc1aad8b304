// What planning goes by beside the problem and the user's options: wisdom, what this machine has been
// measured to be like, and trials.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/bind.hpp"
#include "model/machine_description.hpp"
#include "tune/tuner.hpp"
#include "weft/explanation.hpp"

namespace weft {

struct Learnt {
  Settings options;              ///< for those that the user leaves open
  Origin origin = Origin::rule;  ///< of these; `rule`: nothing was found
  MachineConstants constants;
  std::string text;  ///< a line for the printed plan
  Tuned tuned;       ///< the trials, if any were made
  double trial_seconds = 0;
  std::optional<MachineDescription> machine;  ///< if it is described: the same on all ranks
  std::vector<Candidate> candidates;          ///< what was looked at, the chosen one first
  std::string machine_name, problem_name;     ///< as wisdom calls them, if it was asked
};

/// Looks a problem up in the wisdom of this process and of the file that option `wisdom` names; if nothing is
/// known of it and the effort asks for trials, makes them, and keeps what they find. Without trials the
/// candidate is taken that is predicted to be fastest, if the machine is described. Collective; throws the
/// same `weft::Error` on all ranks.
Learnt learn(const PlanRequest& request, const Setting& setting);

/// Keeps what executions of the plan have found. Local; rank 0's process keeps it for all.
void keep_online(const PlanRequest& request, const Learnt& learnt, const MeasuredSettings& best, int tried);

/// What was timed as a whole: fills in what it makes and what is predicted of it, and drops what is too much
/// for a list.
std::vector<Candidate> described(const PlanRequest& request, const Setting& setting, const Learnt& learnt,
                                 std::vector<Candidate> candidates);

/// Once a plan of arrays on the host is made: with an effort of local FFTs that measures, what they have
/// learnt on any rank is told to all, and kept in the file of option `wisdom`, unless trials have seen to
/// that. Collective.
void keep_learnt(const PlanRequest& request, const Learnt& found);

}  // namespace weft
