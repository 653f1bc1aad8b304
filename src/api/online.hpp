// Effort online: the executions of a plan, which are the user's own, try other programs (docs/adr/0039). The
// plan as it was made comes first. Between two executions it is replaced by what the tuner wants to see; what
// an execution took goes into one reduction, given when it is over and read before the next one begins, from
// which alone all ranks decide. When the tuner has settled, executions are only counted, and measured now and
// then, to see whether they still take that time.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "api/bind.hpp"
#include "api/candidate_designs.hpp"
#include "api/learning.hpp"
#include "base/timing.hpp"
#include "comm/late_maximum.hpp"
#include "tune/drift.hpp"
#include "tune/online.hpp"
#include "weft/explanation.hpp"

namespace weft {

struct PlanImpl;

namespace detail {
/// Whether tries are made whatever they cost. Tests use it, as their problems take less time than making a
/// plan.
extern std::atomic<bool> online_at_any_cost;
}  // namespace detail

/// Bytes of workspace on this rank for the plans that executions may try on top of `base`, as far as ranks do
/// not store into it. Local and pure.
Index online_workspace(const PlanRequest& request, const Setting& setting, const Settings& base);

class Online {
 public:
  /// Of a plan that is bound; making it took so many seconds on the slowest rank. The plan must outlive the
  /// object. Collective; throws the same `weft::Error` on all ranks.
  Online(PlanImpl& plan, double making_s);
  /// Why executions of a plan try nothing; "": they do.
  static std::string why_not(const PlanImpl& plan);
  ~Online();
  Online(const Online&) = delete;
  Online& operator=(const Online&) = delete;

  /// Before an execution starts: reads what the last one took, and puts the plan that is to be executed in
  /// the place of `PlanImpl::bound`. Collective. What is thrown has failed on all ranks, or else the others
  /// are told, and no rank executes the plan any more.
  void before(Direction direction);

  /// Runs a part of an execution: starting it, or going on. `part` returns whether the execution is complete;
  /// so does this.
  template <class Part>
  bool take(const Part& part) {
    const double begin = measuring_ ? seconds_now() : 0;
    bool complete = false;
    try {
      complete = part();
    } catch (...) {
      fail();
      throw;
    }
    if (!measuring_) return complete;
    const double end = seconds_now();
    in_calls_ += end - begin;
    if (complete) give(end);
    return complete;
  }

  OnlineTuning tuning() const;
  std::string text() const;

 private:
  /// A search, with what it asks of candidates.
  struct Search;

  void look(const Settings& base, double making_s);
  void prepare(Direction direction);
  void await();
  void read();
  void decide(int way);
  bool switch_to(const Settings& settings);
  void settle();
  void give(double end);
  void fail() noexcept;
  bool alone() const;

  PlanImpl& plan_;
  std::unique_ptr<LateMaximum> late_;
  double clock_ahead_ = 0;
  double making_s_;
  std::unique_ptr<Search> search_;  ///< while executions try
  Drift drift_;
  bool watches_ = true;  ///< whether it looks again if times drift
  bool again_ = false;   ///< it has looked again

  std::unique_ptr<BoundPlan> kept_;  ///< the best plan, while another one is tried
  int attempts_ = 0;
  std::string kept_plan_, plan_is_;  ///< `OnlineTuner::plan_of` of that, and of `PlanImpl::bound`

  // Of the execution that is under way, or was last.
  bool measuring_ = false, given_ = false;
  int way_ = 0;
  bool disturbed_ = false;
  double began_ = 0, in_calls_ = 0, made_ = 0;

  OnlineTuning tuned_;  ///< once settled
};

}  // namespace weft
