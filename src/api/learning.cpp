#include "api/learning.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "api/machine_choice.hpp"
#include "api/option_table.hpp"
#include "api/predicted_trials.hpp"
#include "api/problem_check.hpp"
#include "api/trial_report.hpp"
#include "api/tuning.hpp"
#include "base/text.hpp"
#include "base/warning.hpp"
#include "comm/agree.hpp"
#include "fft/local_fft.hpp"
#include "model/machine_json.hpp"
#include "tune/candidates_json.hpp"
#include "tune/constants.hpp"
#include "tune/machine.hpp"
#include "tune/wisdom_file.hpp"
#include "tune/wisdom_store.hpp"
#include "weft/wisdom.hpp"

namespace weft {

namespace {

/// How the user's arrays lie on this rank beside the order of their axes; 0 if nothing was said of it.
std::uint64_t memory_hash(const Problem& problem) {
  std::string text;
  for (const Distribution* d : {&problem.input, &problem.output}) {
    text += join(d->strides(), ",") + ";" + join(d->halo_lower(), ",") + ";" + join(d->halo_upper(), ",");
    text += d->r2c_padding() ? ";padded;" : ";;";
  }
  if (problem.input_distance != 0 || problem.output_distance != 0)
    text += std::to_string(problem.input_distance) + ";" + std::to_string(problem.output_distance);
  return text.find_first_not_of(';') == std::string::npos ? 0 : stable_hash(text);
}

/// What wisdom calls a problem: all that choices depend on, and the user's own choices. Collective, as ranks
/// give boxes, orders, strides, halos and distances one by one.
std::string name_of_problem(const PlanRequest& request, const Gathered& given) {
  std::string boxes;
  for (const auto* side : {&given.input_boxes, &given.output_boxes})
    for (const Box& b : *side) boxes += to_string(b);
  for (const auto* side : {&given.input_orders, &given.output_orders})
    for (const Order& o : *side) boxes += join(o, ",") + ";";
  if (given.columns)
    for (const ModeColumn& c : given.columns->all)
      boxes += join(c.first, ",") + ":" + std::to_string(c.count) + ";";
  if (given.columns) boxes += "of ranks " + join(given.columns->first, ",");
  const auto memory = all_of(request.comm.impl(), memory_hash(request.problem));
  const bool dense = std::all_of(memory.begin(), memory.end(), [](auto h) { return h == 0; });
  return join(describe(request.problem), "; ") + "; " + join(describe(request.options, true), "; ") +
         "; boxes " + std::to_string(stable_hash(boxes)) +
         (dense ? "" : "; memory " + std::to_string(stable_hash(join(memory, " "))));
}

std::string text_of_entry(const WisdomEntry& entry) {
  char text[100];
  std::snprintf(text, sizeof text, "%.4g ms forward and backward, found by %d trials", 1e3 * entry.seconds,
                entry.trials);
  return text;
}

/// The machine of these ranks, as wisdom knows it. Collective.
Machine find_machine(const PlanRequest& request, const std::string& devices) {
  CommImpl& c = request.comm.impl();
  std::vector<const FftRow*> ffts;
  agree(c, "plan", [&] { ffts = find_ffts(request.wishes.fft.value, request.problem.memory); });
  return machine_of(c, ffts, devices);
}

/// False, with a warning, if the file does not hold it now.
bool save(const std::string& file) {
  try {
    return export_wisdom(file);
  } catch (const std::exception& e) {  // no memory; planning need not fail for it
    warn("wisdom is not saved in " + file + ": " + e.what());
    return false;
  }
}

std::string key_of(const std::string& problem, const std::string& effort) {
  return problem + "; effort " + effort;
}

class Learning {
 public:
  Learning(const PlanRequest& request, const Setting& setting)
      : request_(request),
        setting_(setting),
        c_(request.comm.impl()),
        wishes_(request.wishes),
        effort_(wishes_.effort.value),
        file_(wishes_.wisdom.value) {}

  Learnt run() {
    // Without wisdom and trials planning has nothing to talk about.
    const std::string& described = wishes_.machine.value;
    const bool asks = effort_ != Effort::estimate || !file_.empty() || !described.empty();
    if (c_.least(asks || !store_.with([](const Wisdom& w) { return w.empty(); }) ? 0 : 1) == 1) return {};
    name_ = name_of_problem(request_, setting_.given);
    agree(c_, "plan: wisdom", [&] {
      if (c_.rank() == 0 && !file_.empty()) import_wisdom(file_);
    });
    machine_ = find_machine(request_, setting_.devices ? setting_.devices->text : "");
    learnt_.machine_name = machine_.fingerprint;
    learnt_.problem_name = name_;
    Wisdom known = share_wisdom(c_, machine_);
    if (!setting_.devices) learn_constants(known);
    find_description(known);
    if (const std::optional<WisdomEntry> entry = look_up(known)) {
      learnt_.options = entry->options;
      learnt_.origin = Origin::wisdom;
      learnt_.candidates = entry->candidates;
      learnt_.text = "wisdom: " + text_of_entry(*entry) + ": " + text_of(entry->options);
      return learnt_;
    }
    if (!file_.empty()) learnt_.text = "wisdom: nothing known of this problem on this machine";
    if (c_.size() == 1) return learnt_;
    if (makes_trials(effort_)) {
      make_trials();
    } else if (learnt_.machine) {
      take_predicted();
    }
    return learnt_;
  }

 private:
  std::string key(const std::string& effort) const { return key_of(name_, effort); }

  /// What more effort has found serves less of it; a search that was not finished serves where none would be
  /// made, one that ended for lack of time where it would not be given more.
  std::optional<WisdomEntry> look_up(const Wisdom& known) const {
    std::vector<std::string> efforts{"patient"};
    if (effort_ != Effort::patient) efforts.emplace_back("measure");
    if (!makes_trials(effort_)) efforts.emplace_back("online");
    if (effort_ == Effort::estimate) efforts.emplace_back("unfinished");
    for (const std::string& effort : efforts) {
      std::optional<WisdomEntry> entry = known.find(machine_.fingerprint, key(effort));
      if (!entry) continue;
      if (makes_trials(effort_) && entry->budget > 0 && entry->budget < wishes_.trial_seconds()) continue;
      try {
        check_learnt(request_.options, entry->options);  // anybody may have written the file
        return entry;
      } catch (const Error& e) {
        if (c_.rank() == 0) warn(std::string("what wisdom says of this problem is not used: ") + e.what());
      }
    }
    return std::nullopt;
  }

  /// They are measured once on a machine, by rank 0.
  void learn_constants(Wisdom& known) {
    const auto names = MachineConstants{}.to_map();
    const auto is_known = [&](const auto& c) {
      return known.constant(machine_.fingerprint, c.first).has_value();
    };
    if (makes_trials(effort_) && !std::all_of(names.begin(), names.end(), is_known)) {
      agree(c_, "plan: constants of the machine", [&] {
        if (c_.rank() != 0) return;
        const std::map<std::string, double> measured = measure_constants().to_map();
        store_.with([&](Wisdom& wisdom) {
          for (const auto& [name, value] : measured)
            wisdom.remember_constant(machine_.fingerprint, name, value);
        });
      });
      known = share_wisdom(c_, machine_);
      save();
    }
    std::map<std::string, double> values;
    for (const auto& [name, standard] : names)
      if (const auto value = known.constant(machine_.fingerprint, name)) values[name] = *value;
    learnt_.constants = MachineConstants::from_map(values);
  }

  /// Of the file that option machine names, else of wisdom. Collective.
  void find_description(const Wisdom& known) {
    const std::string& file = wishes_.machine.value;
    if (file == "none") return;
    if (file.empty()) {
      learnt_.machine = described_by(known, machine_, setting_, c_.rank() == 0);
      return;
    }
    std::string text;
    agree(c_, "plan", [&] {
      if (c_.rank() == 0) text = to_json(described_in(file));
    });
    text = c_.broadcast(text, 0);
    agree(c_, "plan", [&] { learnt_.machine = read_machine(text); });
  }

  /// The setting as designs of candidates go by it.
  Setting with_constants() const {
    Setting setting = setting_;
    setting.constants = learnt_.constants;
    return setting;
  }
  ChoiceRequest choice_request(const Setting& setting) const {
    return {request_.problem, request_.options, wishes_, setting, *learnt_.machine};
  }

  /// Rank 0 chooses for all, as machines of other ranks may round otherwise. Collective.
  ModelChoice predicted_choice() {
    nlohmann::json json;
    std::string text;
    agree(c_, "plan", [&] {
      if (c_.rank() != 0) return;
      ModelChoice choice;
      try {
        const Setting setting = with_constants();
        choice = choose_by_model(choice_request(setting));
      } catch (const Error& e) {
        choice.text = std::string("not predicted, chosen by rules: ") + e.what();
      }
      text = nlohmann::json{{"options", choice.options},
                            {"text", choice.text},
                            {"candidates", json_of_candidates(choice.candidates)}}
                 .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    });
    json = nlohmann::json::parse(c_.broadcast(text, 0));
    return {json.at("options").get<Settings>(), candidates_of_json(json.at("candidates")),
            json.at("text").get<std::string>()};
  }

  void take_predicted() {
    ModelChoice choice = predicted_choice();
    learnt_.text = choice.text;
    learnt_.candidates = std::move(choice.candidates);
    learnt_.options = choice.options;
    learnt_.origin = learnt_.options.empty() ? Origin::rule : Origin::model;
  }

  /// What was timed as a whole, the fastest first, with what is predicted of it.
  std::vector<Candidate> timed_candidates(const Tuned& tuned) const {
    std::vector<Candidate> all;
    for (const Timed& t : tuned.timed) {
      if (t.round == Round::point) continue;
      const auto same = std::find_if(all.begin(), all.end(),
                                     [&](const Candidate& c) { return c.options == t.what.options; });
      if (same != all.end()) {
        same->measured_s = t.what.seconds;  // the later rounds are the more careful ones
      } else {
        all.push_back({t.what.options, "", 0, t.what.seconds, ""});
      }
    }
    std::stable_sort(all.begin(), all.end(), [&](const Candidate& a, const Candidate& b) {
      const bool a_best = a.options == tuned.best.options, b_best = b.options == tuned.best.options;
      return a_best != b_best ? a_best : a.measured_s < b.measured_s;
    });
    return described(request_, with_constants(), learnt_, std::move(all));
  }

  void make_trials() {
    if (c_.least(c_.executions() == nullptr ? 1 : 0) == 0) {
      learnt_.text = "no trials: another execution of these ranks is under way";
      return;
    }
    TuneRequest request;
    request.groups = candidates(wishes_, setting_);
    if (learnt_.machine) {  // what is predicted to be fast is tried first, behind the rules' choice
      const std::vector<Candidate> predicted = predicted_choice().candidates;
      std::vector<Settings>& first = request.groups.front();
      for (std::size_t i = 0, behind = 1; i < std::min<std::size_t>(predicted.size(), 4); ++i)
        if (!predicted[i].options.empty())
          first.insert(first.begin() + static_cast<std::ptrdiff_t>(behind++), predicted[i].options);
    }
    request.parameters = effort_ == Effort::patient;
    request.random = wishes_.random_search.value;
    request.trials = static_cast<int>(std::clamp<Index>(wishes_.trials.value, 0, 1 << 30));
    const Setting setting = with_constants();
    std::optional<TrialReport> report;
    if (c_.rank() == 0)
      report.emplace(title_of(request_.problem, request_.comm),
                     TrialReport::Limits{request.trials, wishes_.trial_seconds()}, file_);
    PlanTrials trials(request_, setting,
                      {[&](const MeasuredSettings& best, int n) { keep("unfinished", best, n); },
                       [&](const Tuned& so_far, double seconds) {
                         if (report) report->timed(so_far, seconds);
                       }});
    const Tuned tuned = tune(trials, request);
    if (tuned.best.seconds <= 0) return;  // planning will say why nothing works
    gather_wisdom(c_, machine_);
    learnt_.candidates = timed_candidates(tuned);
    keep(name_of(effort_), tuned.best, tuned.trials,
         tuned.finished ? 0 : std::max(wishes_.trial_seconds(), 1e-3));
    learnt_.options = tuned.best.options;
    learnt_.origin = Origin::trial;
    learnt_.tuned = tuned;
    learnt_.trial_seconds = trials.seconds();
    char took[80];
    std::snprintf(took, sizeof took, " in %.1f s%s", learnt_.trial_seconds,
                  tuned.finished ? "" : ", until the budget was spent");
    learnt_.text = "trials: " + text_of_entry({tuned.best.options, tuned.best.seconds, tuned.trials, 0, {}}) +
                   took + ": " + text_of(tuned.best.options);
  }

  /// At once, so that a job that is killed in the middle loses little.
  void keep(const std::string& effort, const MeasuredSettings& best, int trials, double budget = 0) {
    if (c_.rank() != 0) return;
    const WisdomEntry entry{best.options, best.seconds, trials, budget, learnt_.candidates};
    store_.with([&](Wisdom& w) { w.remember(machine_.fingerprint, key(effort), entry); });
    save();
  }

  void save() {
    if (c_.rank() == 0 && !file_.empty() && saves_) saves_ = weft::save(file_);
  }

  const PlanRequest& request_;
  const Setting& setting_;
  CommImpl& c_;
  const Wishes& wishes_;
  Effort effort_;
  std::string file_;
  std::string name_;
  WisdomStore& store_ = WisdomStore::of_process();
  Machine machine_;
  Learnt learnt_;
  bool saves_ = true;  ///< what cannot be written is said once
};

}  // namespace

Learnt learn(const PlanRequest& request, const Setting& setting) {
  return Learning(request, setting).run();
}

std::vector<Candidate> described(const PlanRequest& request, const Setting& setting, const Learnt& learnt,
                                 std::vector<Candidate> candidates) {
  candidates.resize(std::min(candidates.size(), most_listed));
  describe_candidates(request.problem, request.options, request.wishes, setting,
                      learnt.machine ? &*learnt.machine : nullptr, candidates);
  return candidates;
}

void keep_online(const PlanRequest& request, const Learnt& learnt, const MeasuredSettings& best, int tried) {
  if (request.comm.rank() != 0 || learnt.problem_name.empty()) return;
  const WisdomEntry entry{best.options, best.seconds, tried, 0, learnt.candidates};
  WisdomStore::of_process().with([&](Wisdom& w) {
    w.remember(learnt.machine_name, key_of(learnt.problem_name, name_of(Effort::online)), entry);
  });
  if (const std::string& file = request.wishes.wisdom.value; !file.empty()) save(file);
}

void keep_learnt(const PlanRequest& request, const Learnt& found) {
  const std::string& file = request.wishes.wisdom.value;
  if (request.wishes.effort_of_ffts() == Effort::estimate || found.origin == Origin::trial) return;
  CommImpl& c = request.comm.impl();
  gather_wisdom(c, find_machine(request, ""));
  if (c.rank() == 0 && !file.empty()) save(file);
}

}  // namespace weft
