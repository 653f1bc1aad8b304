#include "api/tuning.hpp"

#include <algorithm>
#include <limits>

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
    : request_(request),
      setting_(std::move(setting)),
      budget_(request.wishes.trial_seconds()),
      listeners_(std::move(listeners)) {}

double PlanTrials::seconds() const {
  return seconds_now() - begin_;
}

Wishes PlanTrials::with(const Settings& candidate) const {
  return wishes_of(request_.options, candidate, Origin::trial);
}

const Design* PlanTrials::design_of(const Settings& candidate) {
  if (designed_ != candidate) {
    plan_.reset();
    design_.reset();
    try {
      design_ = design(request_.problem, with(candidate), setting_);
    } catch (const Error&) {  // on all ranks alike
    }
    designed_ = candidate;
  }
  return design_ ? &*design_ : nullptr;
}

std::shared_ptr<BoundPlan> PlanTrials::plan(const Settings& candidate) {
  const Design* made = design_of(candidate);
  if (made == nullptr || plan_) return plan_;
  test_point("plan", request_.comm.rank());
  Setting setting = setting_;
  try {
    plan_ = bind(request_, with(candidate), setting, *made, true).plan;
  } catch (const AgreedFailure&) {
    request_.comm.impl().check_alive("plan: trial");
  }
  // Memory that cannot be shared now cannot be shared by the next candidate.
  if (!setting.closed.sharing.empty() && setting_.closed.sharing.empty()) {
    setting_.closed = {.sharing = setting.closed.sharing, .roomy = ""};
    designed_.reset();  // but this plan can be executed
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

/// Forward and backward once; this rank's time until the results are there.
double PlanTrials::execute(BoundPlan& plan) {
  request_.comm.impl().barrier();
  const double begin = seconds_now();
  for (const Direction d : {Direction::forward, Direction::backward}) {
    const TrialArrays::Pointers arrays = arrays_.of(plan, d);
    plan.start(d, arrays.in, arrays.out, arrays.workspace);
    plan.advance(Patience::wait);
  }
  plan.settled(Patience::wait);
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

std::string PlanTrials::plan_of(const Settings& candidate) {
  const Design* d = design_of(candidate);
  if (d == nullptr) return "";
  std::string text = to_string(d->schedules[0]);
  for (const auto& legs : d->legs)
    for (const Leg& choice : legs) {
      text += choice.exchange + " " + choice.pipeline;
      for (const ChosenParameter& q : choice.parameters) text += " " + std::to_string(q.value);
      text += "\n";
    }
  return text;
}

namespace {

std::vector<Index> values_of(const PipelineParameter& p, Index most) {
  const Index last = std::min(most, p.most_tried);
  const Index first = std::min(p.least_tried, last);
  std::vector<Index> values = p.every_value ? all_values(first, last) : log_values(first, last);
  if (p.rule_tried) values.insert(values.begin(), -1);
  return values;
}

}  // namespace

/// A dimension of the search, and its parameter as the rule has it.
struct PlanTrials::Tried {
  Dimension dimension;
  std::string name;
  std::size_t reshape;            ///< in the order of forward; 0 for one value for all
  const ChosenParameter* chosen;  ///< null: the reshape has no such parameter
};

/// A parameter has a value for each reshape if reshapes differ in it.
std::vector<PlanTrials::Tried> PlanTrials::tried(const Settings& candidate) {
  const Design* d = design_of(candidate);
  std::vector<Tried> all;
  if (d == nullptr || d->legs[0].empty()) return all;
  const std::vector<Leg>& legs = d->legs[0];
  for (const PipelineParameter& q : find_pipeline(legs.front().pipeline).parameters) {
    if (request_.wishes.parameters.contains(q.name)) continue;  // as the user has it
    std::vector<const ChosenParameter*> each;                   // by reshape
    const ChosenParameter* first = nullptr;
    Index most = q.most;
    for (const Leg& leg : legs) {
      const auto p = std::find_if(leg.parameters.begin(), leg.parameters.end(),
                                  [&](const ChosenParameter& c) { return c.name == q.name; });
      each.push_back(p == leg.parameters.end() ? nullptr : &*p);
      if (each.back() == nullptr) continue;
      if (first == nullptr) first = each.back();
      most = std::min(most, p->most);
    }
    if (first == nullptr) continue;
    if (!q.each_reshape || legs.size() == 1) {
      all.push_back({{q.name, values_of(q, most)}, q.name, 0, first});
      continue;
    }
    for (std::size_t j = 0; j < each.size(); ++j)
      all.push_back({{std::string(q.name) + "." + std::to_string(j),
                      each[j] == nullptr ? std::vector<Index>{q.least_tried} : values_of(q, each[j]->most)},
                     q.name,
                     j,
                     each[j]});
  }
  return all;
}

/// The overlap paper's default (section 4.4): sixteen tiles, two of them in flight, sub-tiles of 8192
/// elements, and half as many tests as ranks. Nothing for what the paper has no parameters for.
std::optional<Index> PlanTrials::of_paper(const Tried& t) const {
  const auto at_least_1 = [](Index value) { return std::max<Index>(1, value); };
  if (t.name == "tile") return t.chosen == nullptr ? 1 : at_least_1(t.chosen->most / 16);
  if (t.name == "window") return 2;
  const bool tests = t.name == "fy" || t.name == "fp" || t.name == "fu" || t.name == "fx";
  if (tests) return at_least_1(request_.comm.size() / 2);
  const bool packs = t.name == "px" || t.name == "pz", unpacks = t.name == "uy" || t.name == "uz";
  if (!packs && !unpacks) return std::nullopt;
  const Schedule& s = design_->schedules[0];
  const int stage = reshape_stages(s)[t.reshape] + (packs ? -1 : 1);
  Index line = 1;  // points that the FFT beside the reshape transforms together, but along the cut axis
  if (stage >= 0 && stage < static_cast<int>(s.stages.size()))
    for (const int a : at(s.stages, stage).axes)
      line *= a == design_->legs[0][t.reshape].axis ? 1 : request_.problem.shape[a];
  const Index lines = at_least_1(8192 / line);
  const Index across = std::min(lines, at_least_1(t.dimension.values.back()));
  return t.name.ends_with('z') ? at_least_1(lines / across) : across;
}

std::vector<Dimension> PlanTrials::parameters(const Settings& candidate) {
  std::vector<Dimension> all;
  for (const Tried& t : tried(candidate)) all.push_back(t.dimension);
  return all;
}

std::vector<Point> PlanTrials::starts(const Settings& candidate, const std::vector<Dimension>&) {
  Point rule, paper;
  for (const Tried& t : tried(candidate)) {
    rule.push_back(t.chosen == nullptr ? t.dimension.values.front() : t.chosen->value);
    paper.push_back(of_paper(t).value_or(rule.back()));
  }
  return rule == paper ? std::vector<Point>{rule} : std::vector<Point>{rule, paper};
}

/// Points of a search differ in parameters only, so that the schedule of the newest design serves: a search
/// asks for many points that are not feasible, and a design takes long among thousands of ranks.
bool PlanTrials::feasible(const Settings& candidate) {
  if (!design_ || design_->legs[0].empty()) return true;  // planning will tell
  try {
    const Wishes wishes = with(candidate);
    for (const Schedule& schedule : design_->schedules)
      choose_pipeline(schedule, find_pipeline(design_->legs[0].front().pipeline), wishes.parameters,
                      pipeline_rules(request_.problem, wishes, setting_));
  } catch (const Error&) {
    return false;
  }
  return true;
}

/// Rank 0's clock counts. A fifth of the budget is for the finalists.
bool PlanTrials::out_of_time() {
  return !on_all_ranks(request_.comm.rank() != 0 || seconds() <= 0.8 * budget_);
}

namespace {

/// Every way to arrange the computing ranks as a grid of pencils; those of slabs are another candidate.
std::vector<Settings> grids(Index ranks) {
  std::vector<Settings> all;
  for (Index p = 2; 2 * p <= ranks; ++p)
    if (ranks % p == 0) all.push_back({{"grid", std::to_string(p) + "x" + std::to_string(ranks / p)}});
  return all;
}

}  // namespace

std::vector<std::vector<Settings>> candidates(const Wishes& wishes, const Setting& setting) {
  std::vector<std::vector<Settings>> groups{{{}}};
  std::vector<Settings> detours;  // through the host
  for (const Offer& offer : setting.offers)
    if (wishes.exchange.value == std::vector<std::string>{"auto"} && may_choose(offer, wishes, setting))
      (setting.devices && stages(offer.traits) ? detours : groups[0]).push_back({{"exchange", offer.name}});
  // Their pinned memory takes long to make: where there is another way, they wait until all else is tried.
  const bool late = groups[0].size() > 1;
  if (!late) groups[0].insert(groups[0].end(), detours.begin(), detours.end());
  const auto try_each = [&](bool open, const char* name, const std::vector<const char*>& values) {
    if (!open) return;
    groups.emplace_back();
    for (const char* value : values) groups.back().push_back({{name, value}});
  };
  std::vector<const char*> pipelines;
  for (const Pipeline& p : pipeline_table())
    if (p.worth_trying) pipelines.push_back(p.name);
  try_each(wishes.pipeline.value == "auto", "pipeline", pipelines);
  try_each(wishes.decomposition.value == Decomposition::automatic, "decomposition", {"slab", "pencil"});
  if (wishes.grid.value.empty()) groups.push_back(grids(wishes.shrink.value.value_or(setting.ranks())));
  try_each(wishes.layout.value == LayoutWish::automatic, "layout", {"contiguous", "strided"});
  if (late && !detours.empty()) groups.push_back(detours);
  return groups;
}

}  // namespace weft
