#include "api/tuning.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "api/option_table.hpp"
#include "base/test_hook.hpp"
#include "comm/agree.hpp"
#include "design/rules/rules.hpp"
#include "program/pipeline.hpp"

namespace weft {

namespace {

using Clock = std::chrono::steady_clock;
constexpr double infinity = std::numeric_limits<double>::infinity();

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void skip_invariant(BoundPlan& plan, bool on) {
  for (const Direction d : {Direction::forward, Direction::backward}) plan.executor(d).skip_invariant(on);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

PlanTrials::PlanTrials(const TrialRequest& request, Setting setting,
                       std::function<void(const MeasuredSettings&, int)> keep)
    : request_(request),
      setting_(std::move(setting)),
      budget_(request.wishes.trial_seconds()),
      keep_(std::move(keep)) {}

PlanTrials::~PlanTrials() = default;

double PlanTrials::seconds() const {
  return since(begin_);
}

Wishes PlanTrials::with(const Settings& candidate) const {
  return wishes_of(request_.options, candidate, Origin::trial);
}

const Design* PlanTrials::design_of(const Settings& candidate) {
  if (!any_design_ || designed_ != candidate) {
    design_.reset();
    try {
      design_ = design(request_.problem, with(candidate), setting_);
    } catch (const Error&) {  // on all ranks alike
    }
    designed_ = candidate;
    any_design_ = true;
  }
  return design_ ? &*design_ : nullptr;
}

std::shared_ptr<BoundPlan> PlanTrials::plan(const Settings& candidate) {
  if (last_ && planned_ == candidate) return last_;
  last_.reset();
  const Design* made = design_of(candidate);
  if (made == nullptr) return nullptr;
  test_point("plan", request_.comm.rank());
  Setting setting = setting_;
  try {
    last_ =
        bind({request_.comm, request_.problem, with(candidate), request_.devices, setting, *made, true}).plan;
  } catch (const AgreedFailure&) {
    request_.comm.impl().check_alive("plan: trial");
  }
  planned_ = candidate;
  // Memory that cannot be shared now cannot be shared by the next candidate.
  if (!setting.closed.sharing.empty() && setting_.closed.sharing.empty()) {
    setting_.closed = {.sharing = setting.closed.sharing, .roomy = ""};
    any_design_ = false;
  }
  return last_;
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
  return request_.comm.impl().least(enough ? 1 : 0) == 1;
}

/// Forward and backward once; this rank's time until the results are there.
double PlanTrials::execute(BoundPlan& plan) {
  request_.comm.impl().barrier();
  const auto begin = Clock::now();
  for (const Direction d : {Direction::forward, Direction::backward}) {
    const TrialArrays::Pointers arrays = arrays_.of(plan, d);
    plan.start(d, arrays.in, arrays.out, arrays.workspace);
    plan.advance(Patience::wait);
  }
  plan.settled(Patience::wait);
  return since(begin);
}

double PlanTrials::slowest(double seconds) {
  const std::vector<double> all = all_of(request_.comm.impl(), seconds);
  return *std::max_element(all.begin(), all.end());
}

/// So many that a trial is long enough to be trusted, and takes no more than its share of time.
int PlanTrials::repeats(double one, double long_enough, int least, int most, double share) {
  one = std::max(one, 1e-9);
  const double wanted = std::clamp<double>(long_enough / one, least, most);
  return static_cast<int>(std::max(1.0, std::min(wanted, share / one)));
}

/// Whether the workspace of so many plans like this one can be had beside it, and leaves half of the memory
/// to others.
bool PlanTrials::room_for(const BoundPlan& plan, std::size_t more) {
  const double bytes = static_cast<double>(plan.allocated_bytes()) * static_cast<double>(more);
  const bool enough = 2 * bytes * TrialArrays::sharers(plan) <= TrialArrays::room(plan);
  return request_.comm.impl().least(enough ? 1 : 0) == 1;
}

/// Against each other; nothing if not all of their plans can be had at a time.
std::vector<double> PlanTrials::in_turn(const std::vector<Settings>& settings) {
  const std::size_t count = settings.size();
  std::vector<std::shared_ptr<BoundPlan>> plans;
  double one = 0;
  for (const Settings& candidate : settings) {
    plans.push_back(plan(candidate));
    if (!plans.back() || !provide(*plans.back())) return {};
    if (count > plans.size() && !room_for(*plans.back(), count - plans.size())) return {};
    execute(*plans.back());
    one = std::max(one, slowest(execute(*plans.back())));
  }
  std::vector<std::vector<double>> times(count);
  const double left = std::max(0.0, budget_ - slowest(seconds()));
  const double share =
      count == 1 ? 0.2 * budget_ : std::min(left, 0.25 * budget_) / static_cast<double>(count);
  for (int i = repeats(one, 0.2, 5, 25, share); i > 0; --i)
    for (std::size_t k = 0; k < count; ++k) times[k].push_back(execute(*plans[k]));
  std::vector<double> scores;
  for (const std::vector<double>& t : times) scores.push_back(slowest(median(t)));
  return scores;
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
  execute(*p);
  const double one = slowest(execute(*p));
  std::vector<double> times;
  for (int i = repeats(one, 0.1, 3, 15, 0.1 * budget_); i > 0; --i) times.push_back(execute(*p));
  skip_invariant(*p, false);
  return slowest(median(times));
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

/// A parameter in one reshape of forward; null if it has none there.
const ChosenParameter* find(const Leg& choice, const std::string& name) {
  for (const ChosenParameter& p : choice.parameters)
    if (p.name == name) return &p;
  return nullptr;
}

std::vector<Index> values_of(const PipelineParameter& p, Index most) {
  const Index last = std::min(most, p.most_tried);
  const Index first = std::min(p.least_tried, last);
  std::vector<Index> values = p.every_value ? all_values(first, last) : log_values(first, last);
  if (p.rule_tried) values.insert(values.begin(), -1);
  return values;
}

}  // namespace

/// Those of which reshapes differ most have a value for each.
std::vector<Dimension> PlanTrials::parameters(const Settings& candidate) {
  const Design* d = design_of(candidate);
  std::vector<Dimension> all;
  if (d == nullptr || d->legs[0].empty()) return all;
  const std::vector<Leg>& choices = d->legs[0];
  for (const PipelineParameter& q : find_pipeline(choices.front().pipeline).parameters) {
    if (request_.wishes.parameters.contains(q.name)) continue;  // as the user has it
    std::vector<Index> most;
    for (const Leg& choice : choices) {
      const ChosenParameter* chosen = find(choice, q.name);
      most.push_back(chosen != nullptr ? chosen->most : -1);
    }
    const Index largest = *std::max_element(most.begin(), most.end());
    if (largest < 0) continue;
    if (!q.each_reshape || choices.size() == 1) {
      for (Index m : most) most[0] = m < 0 ? most[0] : most[0] < 0 ? m : std::min(most[0], m);
      all.push_back({q.name, values_of(q, most[0])});
      continue;
    }
    for (std::size_t j = 0; j < most.size(); ++j)
      all.push_back({std::string(q.name) + "." + std::to_string(j),
                     most[j] < 0 ? std::vector<Index>{q.least_tried} : values_of(q, most[j])});
  }
  return all;
}

/// The rule's point, and for what the overlap paper has parameters for its default (section 4.4): sixteen
/// tiles, two of them in flight, sub-tiles of 8192 elements, and half as many tests as ranks.
std::vector<Point> PlanTrials::starts(const Settings& candidate, const std::vector<Dimension>& parameters) {
  const Design* design = design_of(candidate);
  if (design == nullptr) return {};
  const Schedule& s = design->schedules[0];
  const std::vector<Leg>& choices = design->legs[0];
  const std::vector<int> stages = reshape_stages(s);
  Point rule, paper;
  bool differs = false;
  for (const Dimension& d : parameters) {
    const std::string name = d.name.substr(0, d.name.find('.'));
    const std::size_t j = d.name.find('.') == std::string::npos
                              ? 0
                              : static_cast<std::size_t>(std::stoi(d.name.substr(d.name.find('.') + 1)));
    const Leg& choice = choices[j];
    const ChosenParameter* chosen = find(choice, name);
    // One for all reshapes need not be of the first.
    for (std::size_t i = 0; chosen == nullptr && name == d.name && i < choices.size(); ++i)
      chosen = find(choices[i], name);
    rule.push_back(chosen != nullptr ? chosen->value : d.values.front());
    const auto lines = [&](int stage) {
      Index n = 1;
      if (stage >= 0 && stage < static_cast<int>(s.stages.size()))
        for (int a : s.stages[static_cast<std::size_t>(stage)].axes)
          n *= a == choice.axis ? 1 : request_.problem.shape[a];
      return n;
    };
    const Index before = std::max<Index>(1, 8192 / lines(stages[j] - 1));
    const Index after = std::max<Index>(1, 8192 / lines(stages[j] + 1));
    const Index half = std::max(1, request_.comm.size() / 2);
    const auto across = [](Index all, Index most) { return std::min(all, std::max<Index>(most, 1)); };
    const std::map<std::string, Index> defaults{
        {"tile", chosen != nullptr ? std::max<Index>(1, chosen->most / 16) : 1},
        {"window", 2},
        {"px", across(before, d.values.back())},
        {"pz", std::max<Index>(1, before / across(before, d.values.back()))},
        {"uy", across(after, d.values.back())},
        {"uz", std::max<Index>(1, after / across(after, d.values.back()))},
        {"fy", half},
        {"fp", half},
        {"fu", half},
        {"fx", half}};
    const auto its = defaults.find(name);
    paper.push_back(its != defaults.end() ? its->second : rule.back());
    differs = differs || paper.back() != rule.back();
  }
  if (!differs) return {rule};
  return {rule, paper};
}

/// The schedule is that of the newest design: points differ in parameters only.
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
  const bool late = request_.comm.rank() == 0 && seconds() > 0.8 * budget_;
  return request_.comm.impl().least(late ? 0 : 1) == 0;
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
    if (wishes.exchange.value == std::vector<std::string>{"auto"} && serves(offer, wishes, setting))
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
