#include "api/tuning.hpp"

#include <algorithm>
#include <limits>

#include "api/interruption.hpp"
#include "api/option_table.hpp"
#include "base/arithmetic.hpp"
#include "base/test_hook.hpp"
#include "base/timing.hpp"
#include "comm/agree.hpp"
#include "design/rules/rules.hpp"
#include "program/pipeline.hpp"

namespace weft {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void skip_invariant(BoundPlan& plan, bool on) {
  for (const Direction d : {Direction::forward, Direction::backward}) plan.executor(d).skip_invariant(on);
}

}  // namespace

PlanTrials::PlanTrials(const PlanRequest& request, Setting setting, Listeners listeners)
    : DesignTrials({request.problem, request.options, request.wishes, std::move(setting), Origin::trial}),
      request_(request),
      budget_(request.wishes.trial_seconds()),
      listeners_(std::move(listeners)) {}

double PlanTrials::seconds() const {
  return seconds_now() - begin_;
}

std::shared_ptr<BoundPlan> PlanTrials::plan(const Settings& candidate) {
  if (planned_ == candidate) return plan_;
  plan_.reset();  // gives back its memory first
  planned_ = candidate;
  const Design* made = designs_.of(candidate);
  if (made == nullptr) return plan_;
  test_point("plan", request_.comm.rank());
  Setting setting = designs_.setting();
  try {
    plan_ = bind(request_, designs_.with(candidate), setting, *made, true).plan;
  } catch (const AgreedFailure&) {
    request_.comm.impl().check_alive("plan: trial");
  }
  // Memory that cannot be shared now cannot be shared by the next candidate.
  if (!setting.closed.sharing.empty() && designs_.setting().closed.sharing.empty()) {
    designs_.setting().closed = {.sharing = setting.closed.sharing, .roomy = "", .turns = ""};
    designs_.forget();  // but this plan can be executed
  }
  return plan_;
}

bool PlanTrials::on_all_ranks(bool mine) {
  return request_.comm.impl().least(mine ? 1 : 0) == 1;
}

/// Arrays for a plan. False if there is no memory for them.
bool PlanTrials::provide(BoundPlan& plan) {
  bool enough = true;
  try {
    arrays_.provide(plan);
  } catch (const std::bad_alloc&) {
    enough = false;
  } catch (const Error&) {  // of a device
    enough = false;
  }
  return on_all_ranks(enough);
}

/// Forward and backward once; this rank's time until the results are there. A rank that fails has failed by
/// itself, and other ranks go on to wait for it.
double PlanTrials::execute(BoundPlan& plan) {
  CommImpl& c = request_.comm.impl();
  c.barrier();
  const double begin = seconds_now();
  try {
    for (const Direction d : {Direction::forward, Direction::backward}) {
      const TrialArrays::Pointers arrays = arrays_.of(plan, d);
      plan.start(d, arrays.in, arrays.out, arrays.workspace);
      plan.advance(Patience::wait);
    }
    plan.settled(Patience::wait);
  } catch (...) {
    c.leave_collectives(std::current_exception());
    throw;
  }
  return seconds_now() - begin;
}

double PlanTrials::slowest(double seconds) {
  const std::vector<double> all = all_of(request_.comm.impl(), seconds);
  return *std::max_element(all.begin(), all.end());
}

/// The medians of plans that are executed in turn: so often that the trial of the slowest is long enough to
/// be trusted, and that no trial takes more than its share of time.
std::vector<double> PlanTrials::time(const std::vector<std::shared_ptr<BoundPlan>>& plans,
                                     const Repeats& repeats) {
  double one = 1e-9;
  for (const auto& plan : plans) {
    execute(*plan);
    one = std::max(one, slowest(execute(*plan)));
  }
  const double wanted = std::clamp<double>(repeats.seconds / one, repeats.least, repeats.most);
  const auto rounds = static_cast<int>(std::max(1.0, std::min(wanted, repeats.share / one)));
  std::vector<double> scores =
      medians_in_turn(plans.size(), rounds, [&](std::size_t k) { return execute(*plans[k]); });
  for (double& score : scores) score = slowest(score);
  return scores;
}

/// Against each other; nothing if not all of their plans can be had at a time.
std::vector<double> PlanTrials::in_turn(const std::vector<Settings>& settings) {
  const std::size_t count = settings.size();
  std::vector<std::shared_ptr<BoundPlan>> plans;
  for (const Settings& candidate : settings) {
    plans.push_back(plan(candidate));
    if (!plans.back() || !provide(*plans.back())) return {};
    const std::size_t more = count - plans.size();
    if (more > 0 && !on_all_ranks(TrialArrays::room_for(*plans.back(), more))) return {};
  }
  const double left = std::max(0.0, budget_ - slowest(seconds()));
  const double share =
      count == 1 ? 0.2 * budget_ : std::min(left, 0.25 * budget_) / static_cast<double>(count);
  return time(plans, {.seconds = 0.2, .least = 5, .most = 25, .share = share});
}

std::vector<double> PlanTrials::whole(const std::vector<Settings>& settings) {
  if (settings.size() > 1)
    if (std::vector<double> scores = in_turn(settings); !scores.empty()) return scores;
  std::vector<double> scores;
  for (const Settings& candidate : settings) {
    const std::vector<double> score = in_turn({candidate});
    scores.push_back(score.empty() ? infinity : score.front());
  }
  return scores;
}

double PlanTrials::part(const Settings& candidate) {
  const std::shared_ptr<BoundPlan> p = plan(candidate);
  if (!p || !provide(*p)) return infinity;
  skip_invariant(*p, true);
  const double score = time({p}, {.seconds = 0.1, .least = 3, .most = 15, .share = 0.1 * budget_}).front();
  skip_invariant(*p, false);
  return score;
}

/// Rank 0's clock counts. A fifth of the budget is for the finalists. Throws if a rank's program has
/// interrupted the trials.
bool PlanTrials::out_of_time() {
  if (!on_all_ranks(!interruption_asked()))
    throw Error("plan: effort", "trials that the program has interrupted",
                "them to end by themselves, or by option budget");
  return !on_all_ranks(request_.comm.rank() != 0 || seconds() <= 0.8 * budget_);
}

}  // namespace weft
