// What is searched when a plan is chosen, by trials or by predictions: candidates, which are sets of options,
// and the designs that they make. Pure.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "design/design.hpp"
#include "tune/tuner.hpp"
#include "weft/options.hpp"

namespace weft {

class CandidateDesigns {
 public:
  CandidateDesigns(const Problem& problem, const Options& options, const Wishes& wishes, Setting setting,
                   Origin origin);

  Wishes with(const Settings& candidate) const;
  /// Null if there is no such design. It lives until the next one is made.
  const Design* of(const Settings& candidate);
  /// What was made last is made anew: the setting has changed.
  void forget() { designed_.reset(); }

  // As `Trials` has them.
  std::string plan_of(const Settings& candidate);
  std::vector<Dimension> parameters(const Settings& candidate);
  std::vector<Point> starts(const Settings& candidate);
  bool feasible(const Settings& candidate);

  Setting& setting() { return setting_; }

 private:
  struct Tried;
  std::vector<Tried> tried(const Settings& candidate);
  std::optional<Index> of_paper(const Tried& tried) const;

  const Problem& problem_;
  const Options& options_;
  const Wishes& wishes_;
  Setting setting_;
  Origin origin_;
  std::optional<Settings> designed_;  ///< what `design_` is of
  std::optional<Design> design_;
};

/// Trials of designs: what the tuner asks beside times is answered by the design of a candidate.
class DesignTrials : public Trials {
 public:
  explicit DesignTrials(CandidateDesigns designs) : designs_(std::move(designs)) {}

  std::string plan_of(const Settings& candidate) override { return designs_.plan_of(candidate); }
  std::vector<Dimension> parameters(const Settings& candidate) override {
    return designs_.parameters(candidate);
  }
  std::vector<Point> starts(const Settings& candidate, const std::vector<Dimension>&) override {
    return designs_.starts(candidate);
  }
  bool feasible(const Settings& candidate) override { return designs_.feasible(candidate); }

 protected:
  CandidateDesigns designs_;
};

/// What the wishes leave open, for the tuner: the rule's choice and the other exchanges that serve, each with
/// the pipeline that suits it, then pipelines, decompositions, grids, numbers of ranks and layouts, and at
/// last exchanges that take data of a device through the host.
std::vector<std::vector<Settings>> candidates(const Wishes& wishes, const Setting& setting);

/// The same for executions of the user's, on top of `base`, which comes first: without exchanges in which MPI
/// arranges the messages, which may take a multiple of the time of others; with those over several networks
/// only where these are open, as opening one that leads nowhere takes long; and without exchanges that pack
/// where ranks store into each other's memory by `base`, which copies once: they take twice as long and more.
std::vector<std::vector<Settings>> online_candidates(const Settings& base, bool base_stores,
                                                     const Wishes& wishes, const Setting& setting);

/// The same for predictions, with what matters most first, and without exchanges that are only for who names
/// them, that are predicted like another one, or in which a library arranges the messages: what MPI's
/// collectives do in there differs by factors from what is predicted.
std::vector<std::vector<Settings>> predicted_candidates(const Wishes& wishes, const Setting& setting);

}  // namespace weft
