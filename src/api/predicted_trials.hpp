// Candidates whose times are predicted: what effort estimate searches with where the machine is described.
// The tuner is the same as for trials. Nothing is executed, and no rank is asked.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/candidate_designs.hpp"
#include "model/machine_description.hpp"
#include "model/prediction.hpp"
#include "weft/explanation.hpp"

namespace weft {

/// What a choice is made from, alike on all ranks.
struct ChoiceRequest {
  const Problem& problem;
  const Options& options;
  const Wishes& wishes;
  const Setting& setting;
  const MachineDescription& machine;
  std::string library = "fftw";  ///< of local FFTs
};

/// What is predicted of a design: forward and backward together.
struct PredictedDesign {
  Prediction forward, backward;
  double seconds() const { return forward.seconds + backward.seconds; }
};
PredictedDesign predict_both(const ChoiceRequest& request, const Design& design);

/// From so many candidates on the rest is left out of lists.
inline constexpr std::size_t most_listed = 12;

struct ModelChoice {
  Settings options;  ///< empty: the choice of the rules, which also wins where nothing is clearly faster
  std::vector<Candidate> candidates;  ///< the chosen one, then from the fastest to the slowest
  std::string text;                   ///< a line for the printed plan
};

/// The candidate that is predicted to be fastest. How many are looked at depends on how many operations their
/// programs have, not on clocks, so that the same problem gives the same plan. Throws `weft::Error` for a
/// machine that lacks what all candidates need.
ModelChoice choose_by_model(const ChoiceRequest& request);

/// Fills in what these candidates make, and, with a description of the machine, what they are predicted to
/// take and what they do otherwise than the first.
void describe_candidates(const Problem& problem, const Options& options, const Wishes& wishes,
                         const Setting& setting, const MachineDescription* machine,
                         std::vector<Candidate>& candidates);

/// What would make a plan faster, in words, with predictions: another output distribution, a codec, fewer
/// ranks. `chosen`: options of the plan beside what the program has set; `seconds`: predicted for it.
std::vector<std::string> advice_for(const ChoiceRequest& request, const Settings& chosen, double seconds);

}  // namespace weft
