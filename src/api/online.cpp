#include "api/online.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "api/option_table.hpp"
#include "api/plan_impl.hpp"
#include "api/renewal.hpp"
#include "api/trial_report.hpp"
#include "base/test_hook.hpp"
#include "comm/agree.hpp"
#include "comm/clock.hpp"

namespace weft {

std::atomic<bool> detail::online_at_any_cost{false};

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The numbers of the reduction, of which all ranks read the maximum.
enum Number : std::size_t { longest, shortest, last_end, last_begin, making, disturbed };

bool concurrent(const Design& design) {
  const std::vector<Leg>& legs = design.legs[0];
  return std::all_of(legs.begin(), legs.end(), [](const Leg& leg) { return leg.traits.concurrent; });
}

bool stores(const Design& design) {
  const std::vector<Leg>& legs = design.legs[0];
  return std::any_of(legs.begin(), legs.end(), [](const Leg& leg) { return leg.traits.stores; });
}

/// Candidates that do to the user's arrays what the first one does.
class OnlineDesigns final : public Candidates {
 public:
  OnlineDesigns(CandidateDesigns designs, const Settings& base) : designs_(std::move(designs)) {
    if (const Design* d = designs_.of(base)) base_ = *d;
  }

  std::string plan_of(const Settings& candidate) override {
    return of(candidate) == nullptr ? "" : designs_.plan_of(candidate);
  }
  std::vector<Dimension> parameters(const Settings& candidate) override {
    return designs_.parameters(candidate);
  }
  /// The rule's point: others are no neighbours.
  std::vector<Point> starts(const Settings& candidate, const std::vector<Dimension>&) override {
    return {designs_.starts(candidate).front()};
  }
  bool feasible(const Settings& candidate) override { return of(candidate) != nullptr; }

  /// Null if it cannot be planned, if it changes where the user's arrays lie, as it may where a distribution
  /// is the fastest one, or if it must be alone on its Comm, which the user has not been told.
  const Design* of(const Settings& candidate) {
    const Design* const d = designs_.of(candidate);
    // Arrays that an operator holds lie as the modes between did when it was made.
    const bool same = d != nullptr && base_ && lie_alike(d->schedules[0], base_->schedules[0]);
    return same && (concurrent(*d) || !concurrent(*base_)) ? d : nullptr;
  }
  Wishes with(const Settings& candidate) const { return designs_.with(candidate); }
  bool base_stores() const { return base_ && stores(*base_); }
  const Setting& setting() { return designs_.setting(); }

 private:
  CandidateDesigns designs_;
  std::optional<Design> base_;
};

/// The numbers that a search reaches in a few moves along one dimension.
std::vector<Settings> neighbours(OnlineDesigns& designs, const Settings& base) {
  constexpr std::ptrdiff_t moves = 2;
  const std::vector<Dimension> dimensions = designs.parameters(base);
  if (dimensions.empty()) return {};
  const Point start = designs.starts(base, dimensions).front();
  std::vector<Settings> all;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    const std::vector<Index>& values = dimensions[d].values;
    const auto at = std::lower_bound(values.begin(), values.end(), start[d]);
    const auto first = at - std::min(moves, at - values.begin());
    const auto last = at + std::min(moves + 1, values.end() - at);
    for (auto value = first; value != last; ++value) {
      Point point = start;
      point[d] = *value;
      all.push_back(with_parameters(base, dimensions, point));
    }
  }
  return all;
}

std::string percent(double ratio) {
  char text[40];
  std::snprintf(text, sizeof text, "%.2f times the first plan's time", ratio);
  return text;
}

}  // namespace

Index online_workspace(const PlanRequest& request, const Setting& setting, const Settings& base) {
  const Wishes open = wishes_of(request.options);
  OnlineDesigns designs({request.problem, request.options, open, setting, Origin::online}, base);
  std::vector<Settings> all = neighbours(designs, base);
  for (const std::vector<Settings>& group : online_candidates(base, designs.base_stores(), open, setting))
    for (const Settings& more : group) {
      all.push_back(base);
      for (const auto& [name, value] : more) all.back()[name] = value;
    }
  Index most = 0;
  for (const Settings& candidate : all) {
    const Design* const d = designs.of(candidate);
    if (d == nullptr || stores(*d)) continue;
    for (const Direction way : {Direction::forward, Direction::backward})
      most = std::max(most, program_of(*d, way, request.comm.rank()).workspace_bytes);
  }
  return most;
}

struct Online::Search {
  Search(PlanImpl& plan, const Settings& base, double making_s, WorkspaceRoom lent, bool again)
      : wishes(wishes_of(plan.options)),
        request{plan.comm, plan.problem, plan.options, wishes, plan.devices, std::move(lent)},
        designs({plan.problem, plan.options, wishes, plan.setting, Origin::online}, base),
        tuner(designs, asked(plan, base, making_s, again)) {}

  /// Predictions are for the first search: rank 0 made them for all. Later ones are each rank's own, and of
  /// what was executed alone.
  OnlineRequest asked(PlanImpl& plan, const Settings& base, double making_s, bool again) {
    OnlineRequest r;
    r.search.groups = online_candidates(base, designs.base_stores(), wishes, plan.setting);
    r.search.parameters = true;
    r.executions = static_cast<int>(wishes.online.value);
    r.making_s = making_s;
    r.at_any_cost = detail::online_at_any_cost;
    std::vector<Settings>& first = r.search.groups.front();
    for (const Settings& candidate : first) {
      const auto exchange = candidate.find("exchange");
      if (exchange == candidate.end() || !exchange_row(exchange->second).traits.by_name_only) continue;
      r.left_out.insert(designs.plan_of(candidate));
    }
    std::size_t behind = 1;  // what is predicted to be fast is tried first
    for (const Candidate& c : plan.learnt.candidates) {
      if (again || c.predicted_s <= 0) continue;
      if (const std::string which = designs.plan_of(c.options); !which.empty())
        r.predicted.emplace(which, c.predicted_s);
      if (behind < 5 && !c.options.empty())
        first.insert(first.begin() + static_cast<std::ptrdiff_t>(behind++), c.options);
    }
    return r;
  }

  Wishes wishes;  ///< of the user alone
  PlanRequest request;
  OnlineDesigns designs;
  OnlineTuner tuner;
};

Online::Online(PlanImpl& plan, double making_s) : plan_(plan), making_s_(making_s) {
  CommImpl& c = plan.comm.impl();
  JointSteps steps("plan");
  steps.take_together(c, [&] { late_ = c.late_maximum(); });
  steps.take_together(c, [&] { clock_ahead_ = clock_ahead(c); });
  steps.take([&] {
    watches_ = plan.wishes.online.value > 0 && !plan.trace;
    tuned_.state = why_not(plan);
    if (tuned_.state.empty()) look(plan.learnt.options, making_s);
    test_point("online", c.rank());
  });
  steps.agree(c);
}

std::string Online::why_not(const PlanImpl& plan) {
  if (plan.wishes.online.value == 0) return "nothing is tried: option online is 0";
  if (!plan.wishes.trace.value.empty())
    return "nothing is tried: option trace keeps the operations of one program";
  return plan.learnt.origin == Origin::wisdom ? "settled: as wisdom has it" : "";
}

Online::~Online() = default;

void Online::look(const Settings& base, double making_s) {
  const BoundPlan& bound = *plan_.bound;
  const bool users = plan_.wishes.users_workspace.value;
  WorkspaceRoom lent{0, bound.memory(), users ? plan_.users_workspace : bound.workspace_bytes(), true};
  search_ = std::make_unique<Search>(plan_, base, making_s, std::move(lent), again_);
  plan_is_ = search_->tuner.plan_of(base);
}

/// Whether nothing else of these ranks is under way.
bool Online::alone() const {
  for (const CommImpl::Execution* e = plan_.comm.impl().executions(); e != nullptr; e = e->next)
    if (e != plan_.bound.get()) return false;
  return true;
}

void Online::before(Direction direction) {
  try {
    prepare(direction);
  } catch (...) {
    measuring_ = false;
    // The others may have put the plan that was kept in the place of this one, and execute it.
    for (const auto* bound : {&plan_.bound, &kept_})
      if (*bound) (*bound)->fail(std::current_exception());
    late_->leave();
    throw;
  }
}

void Online::prepare(Direction direction) {
  test_point("before", plan_.comm.rank());
  if (given_) read();
  way_ = direction == Direction::forward ? 0 : 1;
  made_ = 0;
  if (search_) decide(way_);
  measuring_ = search_ || (watches_ && drift_.begin(way_));
  disturbed_ = !alone();
  in_calls_ = 0;
  began_ = seconds_now();
}

/// What all ranks have given.
void Online::await() {
  CommImpl& c = plan_.comm.impl();
  c.wait_for(*late_);
  given_ = false;
  if (!late_->is_last()) return;
  c.check_alive("online");
  throw Aftermath("online", "a rank that has failed, or has destroyed the plan",
                  "the reason in the message of that rank, and a new plan", c.rank());
}

/// The last execution, as the slowest rank saw it: from when the last rank began to when the last was done. A
/// rank that comes late lets the others wait, which is not the plan's fault. What a rank was in Weft for is
/// at least, on the rank that began last, and at most that; the bounds serve where clocks go apart, and where
/// ranks compute something else while an execution is under way.
void Online::read() {
  await();
  const LateMaximum::Numbers& n = late_->maximum();
  const double most = n[longest], least = std::min(most, -n[shortest]);
  const OnlineTime time{std::max(std::clamp(n[last_end] - n[last_begin], least, most), 1e-9), n[making],
                        n[disturbed] > 0};
  if (search_) {
    search_->tuner.executed(way_, time);
  } else if (drift_.executed(way_, time.disturbed ? 0 : time.seconds)) {
    again_ = true;
    look(plan_.learnt.options, making_s_);
  }
}

void Online::decide(int way) {
  const double begin = seconds_now();
  const int before = attempts_;
  OnlineTuner& tuner = search_->tuner;
  while (!switch_to(tuner.next(way))) tuner.impossible(plan_is_);
  if (attempts_ > before) made_ = seconds_now() - begin;
  if (tuner.settled()) settle();
}

/// False if it cannot be made. Two plans are held at most, the best one and the one that is tried.
bool Online::switch_to(const Settings& settings) {
  Search& s = *search_;
  const std::string wanted = s.tuner.plan_of(settings);
  if (wanted == plan_is_) return true;
  const bool notes = plan_.bound->records_times();
  if (kept_ && (kept_plan_ == wanted || kept_plan_ == s.tuner.plan_of(s.tuner.best()))) {
    std::swap(kept_, plan_.bound);
    std::swap(kept_plan_, plan_is_);
  }
  if (wanted != plan_is_) {
    kept_.reset();  // gives back its memory first
    const Design* const design = s.designs.of(settings);
    if (design == nullptr) return false;
    Setting setting = s.designs.setting();
    std::unique_ptr<BoundPlan> made;
    // Planning waits for all ranks, of which one may have failed to come here.
    late_->give({});
    await();
    try {
      ++attempts_;
      made = bind(s.request, s.designs.with(settings), setting, *design, true).plan;
      // Without room to share, it is another plan than this one.
      if (!setting.closed.sharing.empty() && s.designs.setting().closed.sharing.empty()) return false;
    } catch (const AgreedFailure&) {
      plan_.comm.impl().check_alive("online");
      return false;
    } catch (...) {  // this rank alone, for which others wait
      plan_.comm.impl().leave_collectives(std::current_exception());
      throw;
    }
    kept_ = std::move(plan_.bound);
    kept_plan_ = plan_is_;
    plan_.bound = std::move(made);
    plan_is_ = wanted;
  }
  if (plan_.bound->records_times() != notes) plan_.bound->record_times(notes);
  return true;
}

void Online::settle() {
  tuned_ = tuning();
  const OnlineTuner& tuner = search_->tuner;
  char text[200];
  std::snprintf(text, sizeof text, "settled after %d executions, %d plans tried", tuner.executions(),
                tuner.tried());
  tuned_.state = (again_ ? "looked again, " : "") + std::string(text) + ": " + text_of(tuner.best());
  if (tuned_.ratio < 1) tuned_.state += ", " + percent(tuned_.ratio);
  tuned_.trying = false;
  Learnt& learnt = plan_.learnt;
  learnt.options = tuner.best();
  if (!learnt.options.empty()) learnt.origin = Origin::online;
  std::vector<Candidate> all;
  for (const MeasuredSettings& m : tuner.measured()) all.push_back({m.options, "", 0, m.seconds, ""});
  learnt.candidates = described(search_->request, plan_.setting, learnt, std::move(all));
  double seconds = 0;
  for (const int way : {0, 1}) {
    seconds += tuner.best_seconds(way) > 0 ? tuner.best_seconds(way) : tuner.best_seconds(1 - way);
    drift_.expect(way, tuner.best_seconds(way));
  }
  if (seconds > 0 && tuner.tried() > 0)
    keep_online(search_->request, learnt, {tuner.best(), seconds}, tuner.tried());
  kept_.reset();
  search_.reset();
}

/// This rank's numbers. Ranks that do nothing in this plan are done at once.
void Online::give(double end) {
  measuring_ = false;
  const bool idle = plan_.bound->program(plan_.bound->direction()).ops.empty();
  LateMaximum::Numbers n{};
  n[longest] = in_calls_;
  n[shortest] = idle ? -infinity : -in_calls_;
  n[last_end] = end - clock_ahead_;
  n[last_begin] = began_ - clock_ahead_;
  n[making] = made_;
  n[disturbed] = disturbed_ || !alone() ? 1 : 0;
  late_->give(n);
  given_ = true;
}

/// What the caller did wrong, without harm to the execution, is no failure of it.
void Online::fail() noexcept {
  if (plan_.bound->broken()) late_->leave();
}

OnlineTuning Online::tuning() const {
  if (!search_) return tuned_;
  const OnlineTuner& tuner = search_->tuner;
  OnlineTuning t;
  t.trying = true;
  t.tried = tuner.tried();
  t.ratio = tuner.best_ratio();
  t.state = std::string(again_ ? "looking again" : "trying") + ", " + std::to_string(tuner.executions()) +
            " of " + std::to_string(tuner.most_executions()) + " executions; best so far " +
            text_of(tuner.best()) + ", " + percent(t.ratio);
  for (const OnlineStep& step : tuner.steps())
    t.executions.push_back({step.way == 0, step.options, step.tried, step.time.seconds, step.time.making_s,
                            step.time.disturbed});
  return t;
}

std::string Online::text() const {
  return "online: " + tuning().state;
}

}  // namespace weft
