#include "api/candidate_designs.hpp"

#include <algorithm>
#include <tuple>

#include "api/option_table.hpp"
#include "base/arithmetic.hpp"
#include "design/rules/rules.hpp"
#include "program/pipeline.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

/// Whether what goes over rails is cut into transfers as options say.
bool cuts_transfers(const Design& design) {
  return std::ranges::any_of(design.legs[0],
                             [](const Leg& leg) { return leg.traits.on_rails && !leg.traits.gathers; });
}

}  // namespace

CandidateDesigns::CandidateDesigns(const Problem& problem, const Options& options, const Wishes& wishes,
                                   Setting setting, Origin origin)
    : problem_(problem), options_(options), wishes_(wishes), setting_(std::move(setting)), origin_(origin) {}

Wishes CandidateDesigns::with(const Settings& candidate) const {
  return wishes_of(options_, candidate, origin_);
}

const Design* CandidateDesigns::of(const Settings& candidate) {
  if (designed_ != candidate) {
    design_.reset();
    try {
      design_ = design(problem_, with(candidate), setting_);
    } catch (const Error&) {  // on all ranks alike
    }
    designed_ = candidate;
  }
  return design_ ? &*design_ : nullptr;
}

std::string CandidateDesigns::plan_of(const Settings& candidate) {
  const Design* d = of(candidate);
  if (d == nullptr) return "";
  std::string text = to_string(d->schedules[0]);
  for (const auto& legs : d->legs)
    for (const Leg& choice : legs) {
      text += choice.exchange + " " + to_string(choice.codec) + " " + choice.pipeline;
      if (setting_.devices && choice.traits.stores)
        text += choice.store_lane == Lane::compute ? " by kernels" : " by engines";
      for (const ChosenParameter& q : choice.parameters) text += " " + std::to_string(q.value);
      text += "\n";
    }
  if (cuts_transfers(*d))
    text += "chunk " + std::to_string(d->rails.chunk) + " inflight " + std::to_string(d->rails.in_flight);
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
struct CandidateDesigns::Tried {
  Dimension dimension;
  std::string name;
  std::size_t reshape;              ///< in the order of forward; 0 for one value for all
  const ChosenParameter* chosen;    ///< null: the reshape has no such parameter
  std::optional<Index> other = {};  ///< the value of what is no parameter of the pipeline

  Index value() const {
    return other ? *other : chosen == nullptr ? dimension.values.front() : chosen->value;
  }
};

/// A parameter has a value for each reshape if reshapes differ in it.
std::vector<CandidateDesigns::Tried> CandidateDesigns::tried(const Settings& candidate) {
  const Design* d = of(candidate);
  std::vector<Tried> all;
  if (d == nullptr || d->legs[0].empty()) return all;
  const std::vector<Leg>& legs = d->legs[0];
  for (const PipelineParameter& q : find_pipeline(legs.front().pipeline).parameters) {
    if (wishes_.parameters.contains(q.name)) continue;  // as the user has it
    std::vector<const ChosenParameter*> each;           // by reshape
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
  if (cuts_transfers(*d)) {
    const auto add = [&](const char* option, Index first, Index last, Index now) {
      if (is_left_open(options_, option))
        all.push_back({{option, log_values(first, last)}, option, 0, nullptr, now});
    };
    add("chunk", Index{128} << 10, Index{4} << 20, d->rails.chunk);
    add("inflight", 1, 32, d->rails.in_flight);
  }
  return all;
}

/// The overlap paper's default (section 4.4): sixteen tiles, two of them in flight, sub-tiles of 8192
/// elements, and half as many tests as ranks. Nothing for what the paper has no parameters for.
std::optional<Index> CandidateDesigns::of_paper(const Tried& t) const {
  const auto at_least_1 = [](Index value) { return std::max<Index>(1, value); };
  if (t.name == "tile") return t.chosen == nullptr ? 1 : at_least_1(t.chosen->most / 16);
  if (t.name == "window") return 2;
  const bool tests = t.name == "fy" || t.name == "fp" || t.name == "fu" || t.name == "fx";
  if (tests) return at_least_1(setting_.ranks() / 2);
  const bool packs = t.name == "px" || t.name == "pz", unpacks = t.name == "uy" || t.name == "uz";
  if (!packs && !unpacks) return std::nullopt;
  const Schedule& s = design_->schedules[0];
  const int stage = reshape_stages(s)[t.reshape] + (packs ? -1 : 1);
  Index line = 1;  // points that the FFT beside the reshape transforms together, but along the cut axis
  if (stage >= 0 && stage < static_cast<int>(s.stages.size()))
    for (const int a : at(s.stages, stage).axes)
      line *= a == design_->legs[0][t.reshape].axis ? 1 : s.lengths[a];
  const Index lines = at_least_1(8192 / line);
  const Index across = std::min(lines, at_least_1(t.dimension.values.back()));
  return t.name.ends_with('z') ? at_least_1(lines / across) : across;
}

std::vector<Dimension> CandidateDesigns::parameters(const Settings& candidate) {
  std::vector<Dimension> all;
  for (const Tried& t : tried(candidate)) all.push_back(t.dimension);
  return all;
}

std::vector<Point> CandidateDesigns::starts(const Settings& candidate) {
  Point rule, paper;
  for (const Tried& t : tried(candidate)) {
    rule.push_back(t.value());
    paper.push_back(of_paper(t).value_or(rule.back()));
  }
  return rule == paper ? std::vector<Point>{rule} : std::vector<Point>{rule, paper};
}

/// Points of a search differ in parameters only, so that the schedule of the newest design serves: a search
/// asks for many points that are not feasible, and a design takes long among thousands of ranks.
bool CandidateDesigns::feasible(const Settings& candidate) {
  if (!design_ || design_->legs[0].empty()) return true;  // planning will tell
  try {
    const Wishes wishes = with(candidate);
    for (const Schedule& schedule : design_->schedules)
      choose_pipeline(schedule, find_pipeline(design_->legs[0].front().pipeline), wishes.parameters,
                      pipeline_rules(problem_, wishes, setting_));
  } catch (const Error&) {
    return false;
  }
  return true;
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

namespace {

bool open_exchange(const Wishes& wishes) {
  return wishes.exchange.value == std::vector<std::string>{"auto"};
}

void add_group(std::vector<std::vector<Settings>>& groups, bool open, const char* name,
               const std::vector<std::string>& values) {
  if (!open || values.empty()) return;
  groups.emplace_back();
  for (const std::string& value : values) groups.back().push_back({{name, value}});
}

/// Stages of FFTs, pipelines, decompositions, grids, layouts, numbers of ranks; on devices, who stores;
/// codecs, of which those that are not accurate enough make no design.
void add_groups(std::vector<std::vector<Settings>>& groups, const Wishes& wishes, const Setting& setting) {
  add_group(groups, wishes.fft_stage.value == FftStage::automatic, "fft_stage", {"early", "next", "last"});
  std::vector<std::string> pipelines;
  for (const Pipeline& p : pipeline_table())
    if (p.worth_trying) pipelines.emplace_back(p.name);
  add_group(groups, wishes.pipeline.value == "auto", "pipeline", pipelines);
  add_group(groups, wishes.decomposition.value == Decomposition::automatic, "decomposition",
            {"slab", "pencil"});
  if (wishes.grid.value.empty()) groups.push_back(grids(wishes.shrink.value.value_or(setting.ranks())));
  add_group(groups, wishes.layout.value == LayoutWish::automatic, "layout", {"contiguous", "strided"});
  if (setting.devices) add_group(groups, wishes.puts.value == Puts::automatic, "puts", {"kernel", "engine"});
  std::vector<std::string> fewer;
  for (int ranks = setting.ranks() / 2; ranks > 0; ranks /= 2) fewer.push_back(std::to_string(ranks));
  add_group(groups, wishes.may_shrink(), "shrink", fewer);
  // Within a machine a tolerance leaves all exact.
  add_group(groups, wishes.may_code() && setting.several_nodes(), "codec", {"none", "fp32", "fp16", "bf16"});
}

}  // namespace

std::vector<std::vector<Settings>> online_candidates(const Settings& base, bool base_stores,
                                                     const Wishes& wishes, const Setting& setting) {
  std::vector<std::vector<Settings>> groups{{base}};
  for (const Offer& offer : setting.offers)
    if (open_exchange(wishes) && may_choose(offer, wishes, setting) &&
        (!offer.traits.by_name_only || offer.rails > 1) && !offer.traits.collective &&
        (offer.traits.stores || !base_stores))
      groups[0].push_back({{"exchange", offer.name}});
  add_groups(groups, wishes, setting);
  return groups;
}

std::vector<std::vector<Settings>> candidates(const Wishes& wishes, const Setting& setting) {
  std::vector<std::vector<Settings>> groups{{{}}};
  std::vector<Settings> detours;  // through the host
  for (const Offer& offer : setting.offers)
    if (open_exchange(wishes) && may_choose(offer, wishes, setting) && !offer.traits.one_group &&
        (!offer.traits.on_rails || setting.several_nodes()))
      (setting.devices && stages(offer.traits) ? detours : groups[0]).push_back({{"exchange", offer.name}});
  // Their pinned memory takes long to make: where there is another way, they wait until all else is tried.
  const bool late = groups[0].size() > 1;
  if (!late) groups[0].insert(groups[0].end(), detours.begin(), detours.end());
  add_groups(groups, wishes, setting);
  if (late && !detours.empty()) groups.push_back(detours);
  return groups;
}

namespace {

/// Whether nothing in which two exchanges differ changes what is predicted.
bool predicted_alike(const Offer& a, const Offer& b) {
  const auto key = [](const Offer& o) {
    const ExchangeTraits& t = o.traits;
    return std::tuple(static_cast<int>(t.form), t.stores, t.any_place, t.blocks, t.in_rounds, t.asked_for,
                      t.gathers, o.overlaps);
  };
  return key(a) == key(b);
}

}  // namespace

std::vector<std::vector<Settings>> predicted_candidates(const Wishes& wishes, const Setting& setting) {
  std::vector<std::vector<Settings>> groups{{{}}};
  add_groups(groups, wishes, setting);
  std::vector<const Offer*> offers;
  for (const Offer& offer : setting.offers)
    if (may_choose(offer, wishes, setting) && !offer.traits.by_name_only && !offer.traits.collective &&
        std::none_of(offers.begin(), offers.end(),
                     [&](const Offer* o) { return predicted_alike(*o, offer); }))
      offers.push_back(&offer);
  std::vector<std::string> exchanges;
  for (const Offer* offer : offers) exchanges.push_back(offer->name);
  add_group(groups, open_exchange(wishes), "exchange", exchanges);
  return groups;
}

}  // namespace weft
