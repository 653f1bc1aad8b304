// Trials of designs: what the tuner asks of a candidate is answered by its design, and only what it times is
// bound and executed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/bind.hpp"
#include "api/candidate_designs.hpp"
#include "api/trial_arrays.hpp"
#include "base/timing.hpp"
#include "tune/tuner.hpp"

namespace weft {

class PlanTrials final : public DesignTrials {
 public:
  /// What is told of the best so far, and of all that was timed and when, in seconds since the beginning.
  struct Listeners {
    std::function<void(const MeasuredSettings&, int)> found;
    std::function<void(const Tuned&, double)> timed;
  };
  PlanTrials(const PlanRequest& request, Setting setting, Listeners listeners);

  std::vector<double> whole(const std::vector<Settings>& candidates) override;
  double part(const Settings& candidate) override;
  bool out_of_time() override;
  void found(const MeasuredSettings& best, int trials) override { listeners_.found(best, trials); }
  void timed(const Tuned& so_far) override { listeners_.timed(so_far, seconds()); }

  double seconds() const;

 private:
  /// Null if it cannot be bound.
  std::shared_ptr<BoundPlan> plan(const Settings& candidate);
  bool provide(BoundPlan& plan);
  double execute(BoundPlan& plan);
  double slowest(double seconds);
  bool on_all_ranks(bool mine);
  /// How often a plan is executed: for so long, within bounds, if its share of time allows it.
  struct Repeats {
    double seconds;
    int least, most;
    double share;
  };
  std::vector<double> time(const std::vector<std::shared_ptr<BoundPlan>>& plans, const Repeats& repeats);
  std::vector<double> in_turn(const std::vector<Settings>& settings);

  const PlanRequest& request_;
  double budget_;
  Listeners listeners_;
  double begin_ = seconds_now();
  TrialArrays arrays_;
  std::optional<Settings> planned_;  ///< what `plan_` is of
  std::shared_ptr<BoundPlan> plan_;
};

}  // namespace weft
