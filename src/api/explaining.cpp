// Why a plan is as it is: Plan::explain, and an explanation as text.
#include <algorithm>
#include <cstdio>
#include <ostream>

#include "api/explaining.hpp"
#include "api/plan_impl.hpp"
#include "api/trial_report.hpp"

namespace weft {

namespace {

std::string chosen_by(const Learnt& learnt) {
  switch (learnt.origin) {
    case Origin::model:
      return "predicted to be the fastest on the described machine";
    case Origin::trial:
      return "the fastest of what trials have timed";
    case Origin::online:
      return "the fastest of what executions of this plan have tried";
    case Origin::wisdom:
      return "as wisdom has it, from earlier trials";
    default:
      if (!learnt.candidates.empty()) return "by rules: nothing is predicted to be clearly faster";
      return learnt.machine || learnt.text.starts_with("not predicted") ? "by rules"
                                                                        : "by rules, without predictions";
  }
}

std::string in_words(const PredictedDesign& p) {
  const double compute = p.forward.compute_s + p.backward.compute_s;
  const double wire = p.forward.wire_s + p.backward.wire_s;
  const int rails = std::max(p.forward.rails.used, p.backward.rails.used);
  const std::string carried =
      rails > 1 ? "what " + std::to_string(rails) + " networks carry" : "what the network carries";
  char text[200];
  std::snprintf(
      text, sizeof text, "%s: %.0f%% of the time; the rest is waiting that nothing hides",
      wire > compute ? carried.c_str() : "what the ranks compute and copy, which no exchange can change",
      100 * std::max(compute, wire) / p.seconds());
  return text;
}

std::string milliseconds_or(double seconds, const char* otherwise) {
  if (seconds <= 0) return otherwise;
  char text[40];
  std::snprintf(text, sizeof text, "%.4g", 1e3 * seconds);
  return text;
}

std::string padded(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

}  // namespace

void explain_prediction(Explanation& explanation, const PredictedDesign& predicted) {
  explanation.predicted_s = predicted.seconds();
  explanation.compute_s = predicted.forward.compute_s + predicted.backward.compute_s;
  explanation.wire_s = predicted.forward.wire_s + predicted.backward.wire_s;
  explanation.hangs_on = predicted.forward.critical;
  for (const auto& [kind, seconds] : predicted.backward.critical) explanation.hangs_on[kind] += seconds;
  explanation.bound = in_words(predicted);
}

Explanation PlanImpl::explain() const {
  Explanation e;
  e.chosen = chosen_by(learnt);
  if (online) e.online = online->tuning();
  e.candidates = learnt.candidates;
  if (!learnt.machine) {
    if (wishes.machine.value == "none") return e;
    e.advice.push_back("describe this machine: weft-bench --measure-machine FILE" +
                       std::string(setting.devices ? " --device cuda" : "") +
                       ", and option machine=FILE for plans");
    return e;
  }
  try {
    const ChoiceRequest request{problem, options, wishes, setting, *learnt.machine};
    const PredictedDesign predicted = predict_both(request, design());
    explain_prediction(e, predicted);
    e.advice = advice_for(request, learnt.options, predicted.seconds());
  } catch (const Error& error) {
    e.bound = std::string("not predicted: ") + error.what();
  }
  return e;
}

Explanation Plan::explain() const {
  return impl().explain();
}

std::string to_string(const OnlineTuning& online) {
  if (online.state.empty()) return "";
  std::string text = "online: " + online.state + "\n";
  if (!online.executions.empty()) text += "  execution          ms  making, ms\n";
  int number = 0;
  for (const OnlineExecution& e : online.executions)
    text += padded(std::to_string(++number), 5) + (e.forward ? " forward " : " backward") +
            padded(milliseconds_or(e.seconds, "-"), 9) + padded(milliseconds_or(e.making_s, "-"), 12) +
            "   " + (e.tried ? "try: " : "") + text_of(e.options) +
            (e.disturbed ? " (beside other plans)" : "") + "\n";
  return text;
}

std::string to_string(const Explanation& e) {
  std::string text = "chosen " + e.chosen + "\n";
  if (!e.candidates.empty()) text += "  predicted   measured   ms, forward and backward\n";
  for (const Candidate& c : e.candidates) {
    text += padded(milliseconds_or(c.predicted_s, "-"), 11) + padded(milliseconds_or(c.measured_s, "-"), 11) +
            "   " + text_of(c.options) + (c.summary.empty() ? "" : ": " + c.summary) + "\n";
    if (!c.why.empty()) text += std::string(25, ' ') + "  " + c.why + "\n";
  }
  if (!e.bound.empty()) {
    text += (e.predicted_s > 0 ? "bound by " : "") + e.bound + "\n";
    if (e.predicted_s > 0) text += "hangs on";
    for (const auto& [kind, seconds] : e.hangs_on)
      if (seconds > 0) text += " " + kind + " " + milliseconds_or(seconds, "0");
    if (e.predicted_s > 0) text += "\n";
  }
  text += to_string(e.online);
  for (const std::string& advice : e.advice) text += "what would help: " + advice + "\n";
  return text;
}

std::ostream& operator<<(std::ostream& out, const Explanation& explanation) {
  return out << to_string(explanation);
}

}  // namespace weft
