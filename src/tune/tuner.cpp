#include "tune/tuner.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace weft {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Whether `seconds` is the time of a trial, and not infinity or NaN.
bool timed(double seconds) {
  return seconds < infinity;
}

class Tuner {
 public:
  Tuner(Trials& trials, const TuneRequest& request) : trials_(trials), request_(request) {}

  Tuned run() {
    for (const std::vector<Settings>& group : request_.groups) try_group(group);
    play_off();
    if (request_.parameters) search();
    tuned_.finished = tuned_.finished && !late_;
    return tuned_;
  }

 private:
  int left() const { return request_.trials - tuned_.trials; }

  bool late() {
    if (!late_ && tuned_.trials > 0) late_ = trials_.out_of_time();
    return late_;
  }

  /// Times the candidates of a group, added to the best options so far, except those whose plan was timed
  /// before.
  void try_group(const std::vector<Settings>& group) {
    const Settings base = tuned_.best.options;
    for (const Settings& more : group) {
      // Half of the trials are kept for the parameters of the pipeline.
      if (late() || left() <= (request_.parameters && tuned_.trials > 0 ? request_.trials / 2 : 0)) return;
      Settings candidate = base;
      for (const auto& [name, value] : more) candidate[name] = value;
      const std::string plan = trials_.plan_of(candidate);
      if (plan.empty() || !seen_.insert(plan).second) continue;
      const double seconds = trials_.whole({candidate}).front();
      if (!timed(seconds)) continue;
      measured_.push_back({candidate, seconds});
      note(Round::candidate, measured_.back());
      offer(measured_.back());
    }
  }

  void note(Round round, const MeasuredSettings& what) {
    if (round == Round::candidate || round == Round::point) ++tuned_.trials;
    tuned_.timed.push_back({round, what});
    trials_.timed(tuned_);
  }

  void offer(const MeasuredSettings& candidate) {
    if (tuned_.best.seconds > 0 && candidate.seconds >= tuned_.best.seconds) return;
    tuned_.best = candidate;
    trials_.found(tuned_.best, tuned_.trials);
  }

  /// Searches the parameters by the techniques of the overlap paper, 4.4: points that are not feasible cost
  /// nothing, no point is executed twice, stages that parameters do not affect are left out, values are
  /// powers of two, and the simplex begins at a default point. Here that is the better one of the rule's and
  /// the paper's point.
  void search() {
    if (tuned_.trials == 0 || left() <= 0 || late()) return;
    const Settings candidate = tuned_.best.options;
    const std::vector<Dimension> parameters = trials_.parameters(candidate);
    if (parameters.empty()) return;
    for (const Dimension& d : parameters) tuned_.names.push_back(d.name);
    const auto score = [&](const Point& p) {
      const Settings point = with_parameters(candidate, parameters, p);
      const double seconds = trials_.feasible(point) ? trials_.part(point) : infinity;
      if (timed(seconds)) note(Round::point, {point, seconds});
      return seconds;
    };
    const SearchLimits limits{left(), [&] { return late(); }, request_.longest_move};
    const SearchResult found =
        request_.random ? random_search(parameters, request_.seed, score, limits)
                        : nelder_mead(parameters, trials_.starts(candidate, parameters), score, limits);
    tuned_.history = found.history;
    finals(candidate, parameters);
  }

  /// Times the candidates that are nearly as fast as the best one against each other.
  void play_off() {
    if (late()) return;
    constexpr double near = 1.25;
    std::sort(measured_.begin(), measured_.end(),
              [](const MeasuredSettings& a, const MeasuredSettings& b) { return a.seconds < b.seconds; });
    std::vector<Settings> last;
    for (const MeasuredSettings& m : measured_)
      if (last.size() < 3 && m.seconds <= near * measured_.front().seconds) last.push_back(m.options);
    decide(Round::play_off, last);
  }

  /// Times the best points and the best candidate so far against each other.
  void finals(const Settings& candidate, const std::vector<Dimension>& parameters) {
    std::vector<Settings> last{tuned_.best.options};
    // Random search often finds many equally good points.
    for (const Trial& t : finalists(tuned_.history, request_.random ? 10 : 3))
      last.push_back(with_parameters(candidate, parameters, t.point));
    decide(Round::final, last);
  }

  /// Times whole executions in turns and takes the fastest.
  void decide(Round round, const std::vector<Settings>& last) {
    if (last.size() < 2) return;
    std::vector<double> seconds = trials_.whole(last);
    std::replace_if(
        seconds.begin(), seconds.end(), [](double s) { return !timed(s); }, infinity);
    for (std::size_t i = 0; i < last.size(); ++i)
      if (timed(seconds[i])) note(round, {last[i], seconds[i]});
    const auto best = std::min_element(seconds.begin(), seconds.end());
    if (*best == infinity) return;
    tuned_.best = {last[static_cast<std::size_t>(best - seconds.begin())], *best};
    trials_.found(tuned_.best, tuned_.trials);
  }

  Trials& trials_;
  const TuneRequest& request_;
  std::set<std::string> seen_;
  std::vector<MeasuredSettings> measured_;
  bool late_ = false;
  Tuned tuned_;
};

}  // namespace

const char* name_of(Round round) {
  switch (round) {
    case Round::candidate:
      return "candidate";
    case Round::play_off:
      return "play-off";
    case Round::point:
      return "point";
    default:
      return "final";
  }
}

Tuned tune(Trials& trials, const TuneRequest& request) {
  return Tuner(trials, request).run();
}

Settings with_parameters(const Settings& candidate, const std::vector<Dimension>& parameters,
                         const Point& point) {
  Settings settings = candidate;
  std::set<std::string> by_rule, begun;
  const auto option = [](const Dimension& d) { return d.name.substr(0, d.name.find('.')); };
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (point[i] < 0) by_rule.insert(option(parameters[i]));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string name = option(parameters[i]);
    if (by_rule.contains(name)) continue;
    std::string& value = settings[name];
    value = begun.insert(name).second ? std::to_string(point[i]) : value + "," + std::to_string(point[i]);
  }
  return settings;
}

}  // namespace weft
