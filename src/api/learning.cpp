#include "api/learning.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "api/problem_check.hpp"
#include "api/tuning.hpp"
#include "base/text.hpp"
#include "base/warning.hpp"
#include "comm/agree.hpp"
#include "fft/local_fft.hpp"
#include "program/pipeline.hpp"
#include "tune/constants.hpp"
#include "tune/machine.hpp"
#include "tune/wisdom_file.hpp"
#include "tune/wisdom_store.hpp"
#include "weft/wisdom.hpp"

namespace weft {

namespace {

/// What wisdom calls a problem: all that choices depend on, and the user's own choices.
std::string name_of_problem(const Problem& problem, const Options& options, const Gathered& given) {
  std::string name;
  for (const std::string& line : describe(problem, options)) {
    bool matters = !line.ends_with(' ');
    for (const char* other : {"effort", "trials", "budget", "search", "wisdom", "check"})
      matters = matters && !line.starts_with(std::string("option ") + other + " ");
    if (matters) name += (name.empty() ? "" : "; ") + line;
  }
  // Boxes that ranks name one by one.
  std::string boxes;
  for (const auto* side : {&given.input_boxes, &given.output_boxes})
    for (const Box& b : *side) boxes += to_string(b);
  for (const auto* side : {&given.input_orders, &given.output_orders})
    for (const Order& o : *side) boxes += join(o, ",") + ";";
  return name + "; boxes " + std::to_string(stable_hash(boxes));
}

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

/// "exchange p2p, tile 8"
std::string chosen(const std::map<std::string, std::string>& options) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : options) parts.push_back(name + " " + value);
  return parts.empty() ? "as the rules choose" : join(parts, ", ");
}

std::string text_of(const WisdomEntry& entry) {
  char text[100];
  std::snprintf(text, sizeof text, "%.4g ms forward and backward, found by %d trials", 1e3 * entry.seconds,
                entry.trials);
  return text;
}

/// Whether trials may choose an option: one that the user leaves open, of those that change no more than how
/// fast the plan is.
bool is_open(const Options& options, const std::string& name) {
  for (const char* choice : {"decomposition", "grid", "exchange", "pipeline", "layout"})
    if (name == choice) return options.get(name) == "auto";
  for (const Pipeline& p : pipeline_table())
    for (const PipelineParameter& q : p.parameters)
      if (name == q.name) return options.get(name).empty();
  return false;
}

/// Why an entry, which anybody may have written, cannot be taken over; empty if it can.
std::string misfit(const Options& options, const WisdomEntry& entry) {
  try {
    Options all = options;
    for (const auto& [name, value] : entry.options) {
      all.set(name, value);
      if (!is_open(options, name)) return "option " + name + " is not open";
    }
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

std::vector<const FftRow*> agreed_ffts(CommImpl& c, const Wishes& wishes, MemoryKind memory) {
  std::vector<const FftRow*> ffts;
  agree(c, "plan", [&] { ffts = find_ffts(wishes.fft.value, memory); });
  return ffts;
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

class Learning {
 public:
  explicit Learning(const LearnRequest& request)
      : request_(request),
        c_(request.comm.impl()),
        wishes_(request.wishes),
        effort_(wishes_.effort.value),
        file_(wishes_.wisdom.value),
        name_(name_of_problem(request.problem, request.options, request.setting.given)) {}

  Learnt run() {
    // Without wisdom and trials planning has nothing to talk about.
    const bool asks = effort_ != Effort::estimate || !file_.empty();
    if (c_.least(asks || !store_.with([](const Wisdom& w) { return w.empty(); }) ? 0 : 1) == 1) return {};
    add_memory_to_name();
    agree(c_, "plan: wisdom", [&] {
      if (c_.rank() == 0 && !file_.empty()) import_wisdom(file_);
    });
    const std::optional<DeviceFacts>& devices = request_.setting.devices;
    machine_ =
        machine_of(c_, agreed_ffts(c_, wishes_, request_.problem.memory), devices ? devices->text : "");
    const Wisdom known = share_wisdom(c_, machine_);
    if (!devices) learn_constants(known);
    if (const std::optional<WisdomEntry> entry = look_up(known)) {
      learnt_.options = entry->options;
      learnt_.origin = Origin::wisdom;
      learnt_.text = "wisdom: " + text_of(*entry) + ": " + chosen(entry->options);
      return learnt_;
    }
    if (!file_.empty()) learnt_.text = "wisdom: nothing known of this problem on this machine";
    if (effort_ != Effort::estimate && c_.size() > 1) make_trials();
    return learnt_;
  }

 private:
  /// Strides, halos and distances, which ranks give one by one, matter to local FFTs and exchanges.
  void add_memory_to_name() {
    const std::vector<std::uint64_t> all = all_of(c_, memory_hash(request_.problem));
    if (std::any_of(all.begin(), all.end(), [](std::uint64_t h) { return h != 0; }))
      name_ += "; memory " + std::to_string(stable_hash(join(all, " ")));
  }

  std::string key(const std::string& effort) const { return name_ + "; effort " + effort; }

  /// What more effort has found serves less of it; a search that was not finished serves where none would be
  /// made, one that ended for lack of time where it would not be given more.
  std::optional<WisdomEntry> look_up(const Wisdom& known) const {
    std::vector<std::string> efforts{"patient"};
    if (effort_ != Effort::patient) efforts.emplace_back("measure");
    if (effort_ == Effort::estimate) efforts.emplace_back("unfinished");
    for (const std::string& effort : efforts) {
      std::optional<WisdomEntry> entry = known.find(machine_.fingerprint, key(effort));
      if (!entry) continue;
      if (effort_ != Effort::estimate && entry->budget > 0 && entry->budget < wishes_.trial_seconds())
        continue;
      const std::string wrong = misfit(request_.options, *entry);
      if (wrong.empty()) return entry;
      if (c_.rank() == 0) warn("what wisdom says of this problem is not used: " + wrong);
    }
    return std::nullopt;
  }

  /// Measured once on a machine; alike on all ranks.
  void learn_constants(const Wisdom& known) {
    std::map<std::string, double> values;
    const auto names = MachineConstants{}.to_map();
    for (const auto& [name, standard] : names)
      if (const auto value = known.constant(machine_.fingerprint, name)) values[name] = *value;
    if (values.size() < names.size() && effort_ != Effort::estimate) {
      MachineConstants measured;
      agree(c_, "plan: constants of the machine", [&] {
        if (c_.rank() == 0) measured = measure_constants();
      });
      values = all_of(c_, measured).front().to_map();
      store_.with([&](Wisdom& wisdom) {
        for (const auto& [name, value] : values)
          if (c_.rank() == 0) wisdom.remember_constant(machine_.fingerprint, name, value);
      });
      save();
    }
    learnt_.constants = MachineConstants::from_map(values);
  }

  void make_trials() {
    if (c_.least(c_.executions() == nullptr ? 1 : 0) == 0) {
      learnt_.text = "no trials: another execution of these ranks is under way";
      return;
    }
    TuneRequest request;
    request.groups = candidates(wishes_, request_.setting);
    request.parameters = effort_ == Effort::patient;
    request.random = wishes_.random_search.value;
    request.trials = static_cast<int>(std::clamp<Index>(wishes_.trials.value.value_or(40), 0, 1 << 30));
    Setting setting = request_.setting;
    setting.constants = learnt_.constants;
    PlanTrials trials({request_.comm, request_.problem, request_.options, wishes_, request_.devices}, setting,
                      [&](const MeasuredSettings& best, int n) { keep("unfinished", best, n); });
    const Tuned tuned = tune(trials, request);
    if (tuned.best.seconds <= 0) return;  // planning will say why nothing works
    gather_wisdom(c_, machine_);
    keep(name_of(effort_), tuned.best, tuned.trials,
         tuned.finished ? 0 : std::max(wishes_.trial_seconds(), 1e-3));
    learnt_.options = tuned.best.options;
    learnt_.origin = Origin::trial;
    learnt_.parameters = tuned.names;
    learnt_.history = tuned.history;
    learnt_.best_seconds = tuned.best.seconds;
    learnt_.trial_seconds = trials.seconds();
    learnt_.trials = tuned.trials;
    char took[80];
    std::snprintf(took, sizeof took, " in %.1f s%s", trials.seconds(),
                  tuned.finished ? "" : ", until the budget was spent");
    learnt_.text = "trials: " + text_of({tuned.best.options, tuned.best.seconds, tuned.trials}) + took +
                   ": " + chosen(tuned.best.options);
  }

  /// At once, so that a job that is killed in the middle loses little.
  void keep(const std::string& effort, const MeasuredSettings& best, int trials, double budget = 0) {
    if (c_.rank() != 0) return;
    const WisdomEntry entry{best.options, best.seconds, trials, budget};
    store_.with([&](Wisdom& w) { w.remember(machine_.fingerprint, key(effort), entry); });
    save();
  }

  void save() {
    if (c_.rank() == 0 && !file_.empty() && saves_) saves_ = weft::save(file_);
  }

  const LearnRequest& request_;
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

Learnt learn(const LearnRequest& request) {
  return Learning(request).run();
}

void keep_learnt(const Comm& comm, const Wishes& wishes, const Learnt& found) {
  const std::string& file = wishes.wisdom.value;
  if (file.empty() || wishes.effort.value == Effort::estimate || found.origin == Origin::trial) return;
  CommImpl& c = comm.impl();
  gather_wisdom(c, machine_of(c, agreed_ffts(c, wishes, MemoryKind::host)));
  if (c.rank() == 0) save(file);
}

}  // namespace weft
