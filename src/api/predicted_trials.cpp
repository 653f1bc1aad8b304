#include "api/predicted_trials.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "api/option_table.hpp"
#include "api/predict.hpp"
#include "api/trial_report.hpp"
#include "base/arithmetic.hpp"
#include "base/text.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

/// By how much another plan than the rules' has to be predicted to be faster, so that it is: by the errors of
/// predictions of one problem, as bench/choices.py and bench/predictions.py have found them. Links between
/// machines are predicted best, then devices. Ranks that wait for each other's cores, and DCTs and DSTs,
/// which libraries do better in some layouts than in others, are predicted worst. The rules were measured on
/// several machines.
struct ClearGain {
  static constexpr double between_machines = 0.1, on_devices = 0.15, on_one_machine = 0.25, in_turns = 0.4,
                          of_r2r = 0.5;
};
/// Advice says by how much itself.
constexpr double worth_a_word = 0.05;
/// Up to so many ranks all are replayed, as they may wait for each other's cores.
constexpr int few_ranks = 8;
/// What a candidate is predicted to do.
struct Forecast {
  Settings options;
  std::string summary;
  double seconds = 0;  ///< forward and backward
  Prediction forward;
  Index messages = 0;      ///< of the busiest rank to others
  double sent_points = 0;  ///< by that rank to others
  bool careful = false;    ///< backward was replayed, too
};

std::string names_of_legs(const std::vector<Leg>& legs, std::string Leg::*name) {
  std::vector<std::string> names;
  for (const Leg& leg : legs)
    if (std::find(names.begin(), names.end(), leg.*name) == names.end()) names.push_back(leg.*name);
  return join(names, " and ");
}

/// "2x2 pencils": what the ranks hold while they transform.
std::string summary_of(const Design& design) {
  const Schedule& s = design.schedules[0];
  std::vector<std::string> fields;
  for (std::size_t i = 0; i < s.stages.size(); ++i)
    if (s.stages[i].kind == Stage::Kind::fft)
      fields.push_back(s.fields[i].tiling->name(s.batch_axis, s.halves_axis));
  const std::vector<Leg>& legs = design.legs_of(Direction::forward);
  if (legs.empty()) return join(fields, ", ");
  std::string text = join(fields, ", ") + "; " + names_of_legs(legs, &Leg::exchange) + "; " +
                     names_of_legs(legs, &Leg::pipeline);
  for (const ChosenParameter& p : legs.front().parameters)
    if (p.origin != "rule") text += ", " + p.name + " " + std::to_string(p.value);
  for (const Leg& leg : legs)
    if (leg.codec) return text + "; codec " + to_string(leg.codec);
  if (design.on_device() && legs.front().traits.stores)
    text += legs.front().store_lane == Lane::compute ? "; puts by kernels" : "; puts by engines";
  return text + (design.contiguous.value ? "; contiguous" : "; strided");
}

void count_traffic(const Design& design, int rank, Forecast& f) {
  const Schedule& s = design.schedules[0];
  for (const int stage : reshape_stages(s)) {
    const Traffic t = traffic(*at(s.fields, stage).tiling, *at(s.fields, stage + 1).tiling, rank);
    f.messages += t.messages;
    f.sent_points += static_cast<double>(t.sent_points);
  }
}

double spent(const Forecast& f, std::initializer_list<const char*> activities) {
  double seconds = 0;
  for (const char* name : activities)
    if (const auto found = f.forward.activities.find(name); found != f.forward.activities.end())
      seconds += found->second;
  return seconds;
}

/// "local FFTs 1.2 ms longer", if that is worth a word.
void add_difference(std::vector<std::string>& parts, const char* what, double mine, double best,
                    double total) {
  const double more = mine - best;
  if (std::abs(more) < 0.04 * total) return;
  char text[80];
  std::snprintf(text, sizeof text, "%s %.3g ms %s", what, 1e3 * std::abs(more),
                more > 0 ? "longer" : "shorter");
  parts.emplace_back(text);
}

/// Seconds in which a rank does two things, as the streams of a device do.
double at_the_same_time(const Prediction& p) {
  double sum = 0;
  for (const auto& [name, seconds] : p.activities) sum += seconds;
  return std::max(0.0, sum - p.seconds);
}

/// What a candidate does otherwise than the chosen one, forward.
std::string why(const Forecast& f, const Forecast& best) {
  std::vector<std::string> parts;
  const double total = best.forward.seconds;
  add_difference(parts, "local FFTs", spent(f, {"fft"}), spent(best, {"fft"}), total);
  const std::initializer_list<const char*> copies{"copy", "pack", "unpack", "put", "keep"};
  add_difference(parts, "copies", spent(f, copies), spent(best, copies), total);
  const std::initializer_list<const char*> waits{"exchange", "wait"};
  add_difference(parts, "sending and waiting", spent(f, waits), spent(best, waits), total);
  add_difference(parts, "overlap", at_the_same_time(f.forward), at_the_same_time(best.forward), total);
  if (f.messages != best.messages)
    parts.push_back("a rank sends to " + std::to_string(f.messages) + " others, not to " +
                    std::to_string(best.messages));
  if (best.sent_points > 0 && std::abs(f.sent_points / best.sent_points - 1) > 0.05) {
    char text[60];
    std::snprintf(text, sizeof text, "%.2g times the points leave a rank", f.sent_points / best.sent_points);
    parts.emplace_back(text);
  }
  return parts.empty() ? "much the same" : join(parts, "; ");
}

/// Whether any machine has more ranks than cores.
bool in_turns(const Setting& setting) {
  std::map<int, int> ranks_of;
  int most = 0;
  for (const int node : setting.nodes) most = std::max(most, ++ranks_of[node]);
  return most > *std::min_element(setting.hardware_threads.begin(), setting.hardware_threads.end());
}

double clear_gain(const ChoiceRequest& request) {
  const Setting& setting = request.setting;
  const double gain = setting.several_nodes() ? ClearGain::between_machines
                      : setting.devices       ? ClearGain::on_devices
                      : in_turns(setting)     ? ClearGain::in_turns
                                              : ClearGain::on_one_machine;
  const AxisVector<Transform>& all = request.problem.transforms;
  const bool r2r = !setting.devices && std::any_of(all.begin(), all.end(), is_r2r);
  return r2r ? std::max(gain, ClearGain::of_r2r) : gain;
}

class PredictedTrials final : public DesignTrials {
 public:
  explicit PredictedTrials(const ChoiceRequest& request)
      : DesignTrials({request.problem, request.options, request.wishes, request.setting, Origin::model}),
        request_(request),
        most_operations_(100'000 + 150 * static_cast<std::size_t>(request.setting.ranks())) {}

  std::vector<double> whole(const std::vector<Settings>& settings) override {
    std::vector<double> seconds;
    for (const Settings& s : settings) seconds.push_back(predicted(s, settings.size() > 1));
    return seconds;
  }
  double part(const Settings& candidate) override { return predicted(candidate, false); }
  bool out_of_time() override { return operations_ > most_operations_; }
  void found(const MeasuredSettings&, int) override {}

  /// Forward and backward. Infinity if it cannot be planned or predicted. `careful`: backward is replayed,
  /// too, and not taken to be like forward.
  double predicted(const Settings& candidate, bool careful) {
    const auto known = forecasts_.find(text_of(candidate));
    if (known != forecasts_.end() && (!careful || known->second.careful)) return known->second.seconds;
    const Design* const design = designs_.of(candidate);
    if (design == nullptr) return std::numeric_limits<double>::infinity();
    try {
      Forecast f = known == forecasts_.end() ? forecast(candidate, *design) : known->second;
      if (careful) {
        f.seconds = f.forward.seconds + replayed(*design, Direction::backward).prediction.seconds;
        f.careful = true;
      }
      return forecasts_.insert_or_assign(text_of(candidate), std::move(f)).first->second.seconds;
    } catch (const Error& e) {
      if (!failure_) failure_ = e;
      return std::numeric_limits<double>::infinity();
    }
  }

  /// The fastest candidate of all that was predicted, of which backward was replayed, too: pipelines may do
  /// well in one direction alone.
  Settings fastest() {
    for (;;) {
      const auto best =
          std::min_element(forecasts_.begin(), forecasts_.end(),
                           [](const auto& a, const auto& b) { return a.second.seconds < b.second.seconds; });
      Settings options = best->second.options;
      if (best->second.careful) return options;
      const double seconds = predicted(options, true);
      Forecast& now = forecasts_.at(text_of(options));
      now.seconds = seconds;  // infinity if backward cannot be predicted
      now.careful = true;
    }
  }

  const std::map<std::string, Forecast>& forecasts() const { return forecasts_; }
  const std::optional<Error>& failure() const { return failure_; }

 private:
  /// One rank for all, unless there are few. Where some ranks store and others send it may have waited for
  /// itself, and says less of the others: classes of ranks say more, if they are not too many.
  PlanPrediction replayed(const Design& design, Direction direction) {
    constexpr int most = 64;
    const int ranks = request_.setting.ranks();
    const std::optional<DeviceFacts>& devices = request_.setting.devices;
    const bool all = ranks <= few_ranks || (devices && !devices->own_devices());
    PlanPrediction p = replayed(design, direction, all ? ReplayedRanks::all : ReplayedRanks::busiest);
    return p.replayed.let_go > 0 && ranks <= most ? replayed(design, direction, ReplayedRanks::classes) : p;
  }
  PlanPrediction replayed(const Design& design, Direction direction, ReplayedRanks some) {
    PlanPrediction p = predict(
        {request_.machine, design, request_.setting, request_.problem.precision, request_.library, some},
        direction);
    for (const RankTimeline& rank : p.replayed.ranks) operations_ += rank.operations.size();
    return p;
  }
  Forecast forecast(const Settings& candidate, const Design& design) {
    const PlanPrediction forward = replayed(design, Direction::forward);
    Forecast f{candidate, summary_of(design), 2 * forward.prediction.seconds, forward.prediction};
    count_traffic(design, at(forward.replayed.ranks, forward.replayed.slowest).rank, f);
    return f;
  }

  const ChoiceRequest& request_;
  std::map<std::string, Forecast> forecasts_;  ///< by the text of the options
  std::optional<Error> failure_;
  std::size_t operations_ = 0, most_operations_;
};

/// Those that make no difference to the plan are left out.
std::vector<Candidate> listed(const PredictedTrials& trials, const Settings& chosen) {
  std::vector<const Forecast*> sorted;
  for (const auto& [text, f] : trials.forecasts()) sorted.push_back(&f);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Forecast* a, const Forecast* b) { return a->seconds < b->seconds; });
  const Forecast& best = trials.forecasts().at(text_of(chosen));
  std::vector<Candidate> all{{chosen, best.summary, best.seconds, 0, ""}};
  for (const Forecast* f : sorted)
    if (f != &best && all.size() < most_listed)
      all.push_back({f->options, f->summary, f->seconds, 0, why(*f, best)});
  return all;
}

}  // namespace

PredictedDesign predict_both(const ChoiceRequest& request, const Design& design) {
  constexpr int many = 64;
  const PredictionRequest of{
      request.machine, design,
      request.setting, request.problem.precision,
      request.library, request.setting.ranks() >= many ? ReplayedRanks::classes : ReplayedRanks::all};
  return {predict(of, Direction::forward).prediction, predict(of, Direction::backward).prediction};
}

ModelChoice choose_by_model(const ChoiceRequest& request) {
  PredictedTrials trials(request);
  TuneRequest tune_request;
  tune_request.groups = predicted_candidates(request.wishes, request.setting);
  tune_request.trials = 100;
  const Tuned tuned = tune(trials, tune_request);
  if (tuned.best.seconds <= 0) {
    if (trials.failure()) throw *trials.failure();
    return {};  // planning will say why nothing works
  }
  ModelChoice choice;
  const double rules = trials.predicted({}, true);
  if (!(rules < std::numeric_limits<double>::infinity())) {
    // What cannot be predicted may be the fastest.
    if (trials.failure()) throw *trials.failure();
    return {};
  }
  const Settings fastest = trials.fastest();
  const double best = trials.predicted(fastest, true);
  const bool gains = best < (1 - clear_gain(request)) * rules;
  if (gains) choice.options = fastest;
  choice.candidates = listed(trials, choice.options);
  choice.candidates.front().why = gains ? "predicted to be the fastest"
                                  : fastest.empty()
                                      ? "the rules' choice, and predicted to be the fastest"
                                      : "the rules' choice: nothing is predicted to be clearly faster";
  char text[120];
  std::snprintf(text, sizeof text,
                "predicted: %.4g ms forward and backward, of %zu candidates; by rule %.4g: ",
                1e3 * choice.candidates.front().predicted_s, trials.forecasts().size(), 1e3 * rules);
  choice.text = text + text_of(choice.options);
  return choice;
}

void describe_candidates(const Problem& problem, const Options& options, const Wishes& wishes,
                         const Setting& setting, const MachineDescription* machine,
                         std::vector<Candidate>& candidates) {
  CandidateDesigns designs(problem, options, wishes, setting, Origin::trial);
  for (Candidate& c : candidates)
    if (const Design* const design = designs.of(c.options)) c.summary = summary_of(*design);
  if (machine == nullptr) return;
  const ChoiceRequest request{problem, options, wishes, setting, *machine};
  PredictedTrials trials(request);
  const Forecast* first = nullptr;
  for (Candidate& c : candidates) {
    if (!(trials.predicted(c.options, false) < std::numeric_limits<double>::infinity())) continue;
    const Forecast& f = trials.forecasts().at(text_of(c.options));
    c.predicted_s = f.seconds;
    if (first != nullptr) c.why = why(f, *first);
    if (&c == &candidates.front()) first = &f;
  }
}

namespace {

/// A problem or options that are a little different, and what that is called.
struct Variation {
  std::string text;
  Problem problem;
  Options options;
};

/// Adds "TEXT: predicted 12 ms for 15" if that is clearly faster.
void advise(std::vector<std::string>& advice, const ChoiceRequest& request, const Settings& chosen,
            double seconds, const Variation& variation) {
  try {
    const Wishes wishes = wishes_of(variation.options, chosen, Origin::model);
    const double other = predict_both(request, design(variation.problem, wishes, request.setting)).seconds();
    if (other > (1 - worth_a_word) * seconds) return;
    char times[80];
    std::snprintf(times, sizeof times, ": predicted %.3g ms for %.3g", 1e3 * other, 1e3 * seconds);
    advice.push_back(variation.text + times);
  } catch (const Error&) {  // what cannot be, or is not described, is no advice
  }
}

}  // namespace

std::vector<std::string> advice_for(const ChoiceRequest& request, const Settings& chosen, double seconds) {
  std::vector<std::string> advice;
  const auto consider = [&](const std::string& text, const auto& change) {
    Variation v{text, request.problem, request.options};
    change(v);
    advise(advice, request, chosen, seconds, v);
  };
  const Problem& problem = request.problem;
  if (problem.output.kind() != Distribution::Kind::fastest && problem.output.strides().empty())
    consider("leave the output as the transform leaves it, Distribution::fastest()",
             [](Variation& v) { v.problem.output = Distribution::fastest(); });
  if (!request.wishes.any_codec() && !request.wishes.tolerance.value) {
    const bool wide = problem.precision == Precision::float64;
    consider(wide ? "where a relative error of 1e-6 is allowed, option tolerance"
                  : "where a relative error of 1e-2 is allowed, option tolerance",
             [&](Variation& v) { v.options.set("tolerance", wide ? "1e-6" : "1e-2"); });
  }
  for (int ranks = request.setting.ranks() / 2; ranks > 1 && request.wishes.shrink.origin == Origin::rule;
       ranks /= 2)
    consider("let " + std::to_string(ranks) + " ranks compute, option shrink",
             [&](Variation& v) { v.options.set("shrink", std::to_string(ranks)); });
  return advice;
}

}  // namespace weft
