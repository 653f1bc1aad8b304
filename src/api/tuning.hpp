// Trials of whole plans, for the tuner.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "api/learning.hpp"
#include "api/trial_arrays.hpp"
#include "tune/tuner.hpp"
#include "weft/problem.hpp"

namespace weft {

struct PlanImpl;

class PlanTrials final : public Trials {
 public:
  /// `keep` is told of the best so far.
  PlanTrials(const Comm& comm, const Problem& problem, const Options& options,
             const MachineConstants& constants, double budget,
             std::function<void(const MeasuredSettings&, int)> keep);
  ~PlanTrials() override;

  std::vector<double> whole(const std::vector<Settings>& candidates) override;
  double part(const Settings& candidate) override;
  std::string plan_of(const Settings& candidate) override;
  std::vector<Dimension> parameters(const Settings& candidate) override;
  std::vector<Point> starts(const Settings& candidate, const std::vector<Dimension>& parameters) override;
  bool feasible(const Settings& candidate) override;
  bool out_of_time() override;
  void found(const MeasuredSettings& best, int trials) override { keep_(best, trials); }

  double seconds() const;

 private:
  Options with(const Settings& candidate) const;
  /// Null if there is no such plan.
  std::shared_ptr<PlanImpl> plan(const Settings& candidate);
  bool provide(PlanImpl& plan);
  double execute(PlanImpl& plan);
  double slowest(double seconds);
  static int repeats(double one, double long_enough, int least, int most, double share);
  bool room_for(const PlanImpl& plan, std::size_t more);
  std::vector<double> in_turn(const std::vector<Settings>& settings);

  Comm comm_;
  Problem problem_;
  Options options_;
  MachineConstants constants_;
  double budget_;
  std::function<void(const MeasuredSettings&, int)> keep_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  TrialArrays arrays_;
  Settings planned_;  ///< what `last_` is of
  std::shared_ptr<PlanImpl> last_;
};

/// What `options` leave open, for the tuner: the rule's choice and the other exchanges that serve, each with
/// the pipeline that suits it, then pipelines, decompositions, grids and layouts, and at last exchanges that
/// take data of a device through the host.
std::vector<std::vector<Settings>> candidates(CommImpl& comm, const Options& options,
                                              const ExchangeNeeds& needs);

}  // namespace weft
