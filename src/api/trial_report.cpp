#include "api/trial_report.hpp"

#include <algorithm>
#include <cstdio>

#include "api/trial_progress.hpp"
#include "base/environment.hpp"
#include "base/text.hpp"

namespace weft {

namespace {

/// The variable counts as on unless it says otherwise.
bool verbose() {
  const std::string value = environment_value("WEFT_VERBOSE").value_or("0");
  return value != "0" && value != "off";
}

std::string milliseconds(double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4g ms", 1e3 * seconds);
  return text;
}

/// Each round times anew, and its own times decide: those of points are of a part only, and others have
/// drifted.
MeasuredSettings best_before(const Tuned& so_far) {
  const Timed& last = so_far.timed.back();
  MeasuredSettings best;
  for (const Timed& t : so_far.timed) {
    if (&t == &last || t.round != last.round) continue;
    if (best.seconds == 0 || t.what.seconds < best.seconds) best = t.what;
  }
  return best;
}

}  // namespace

std::string text_of(const Settings& options) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : options) parts.push_back(name + " " + value);
  return parts.empty() ? "as the rules choose" : join(parts, ", ");
}

TrialReport::TrialReport(const std::string& title, const Limits& limits, const std::string& file)
    : limits_(limits), speaks_(verbose()) {
  if (!speaks_) return;
  const std::string kept =
      file.empty() ? "nothing is kept if the program is stopped: option wisdom names a file for that"
                   : "the best so far is always in " + file + ", also if the program is stopped";
  std::fprintf(stderr, "weft: trials of %s: at most %d, in %.3g s; %s\n", title.c_str(), limits.trials,
               limits.seconds, kept.c_str());
}

void TrialReport::timed(const Tuned& so_far, double seconds) const {
  const TrialProgress now = progress(so_far, seconds);
  if (speaks_) print(now);
  tell(now);
}

TrialProgress TrialReport::progress(const Tuned& so_far, double seconds) const {
  const Timed& last = so_far.timed.back();
  const MeasuredSettings best = best_before(so_far);
  TrialProgress p;
  p.round = name_of(last.round);
  p.trial = so_far.trials;
  p.most_trials = limits_.trials;
  p.options = last.what.options;
  p.seconds = last.what.seconds;
  p.is_best = best.seconds == 0 || last.what.seconds < best.seconds;
  p.best_options = p.is_best ? p.options : best.options;
  p.best_seconds = p.is_best ? p.seconds : best.seconds;
  p.seconds_left = std::max(0.0, limits_.seconds - seconds);
  return p;
}

void TrialReport::print(const TrialProgress& p) {
  const bool point = p.round == name_of(Round::point);
  std::string text = p.round;
  if (point || p.round == name_of(Round::candidate))
    text = "trial " + std::to_string(p.trial) + " of " + std::to_string(p.most_trials);
  text += ": " + text_of(p.options) + ": " + milliseconds(p.seconds);
  if (point) text += " for what parameters change";
  text += p.is_best ? ", the best so far"
                    : "; best so far " + milliseconds(p.best_seconds) + " (" + text_of(p.best_options) + ")";
  std::fprintf(stderr, "weft: %s; %.1f s left\n", text.c_str(), p.seconds_left);
}

}  // namespace weft
