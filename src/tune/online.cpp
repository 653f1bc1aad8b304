#include "tune/online.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/text.hpp"

namespace weft {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Candidates that are asked for together are executed again if they are as near to the fastest of them.
constexpr double near = 1.05;
/// What is predicted to take more times the best one's seconds is not tried.
constexpr double slow = 1.05;
/// So many of the last executions say which directions are in use.
constexpr int recent = 4;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace

/// Answers the search from what is known.
class OnlineTuner::Replay final : public Trials {
 public:
  explicit Replay(OnlineTuner& tuner) : tuner_(tuner) {}

  std::string plan_of(const Settings& candidate) override { return tuner_.plan_of(candidate); }
  std::vector<Dimension> parameters(const Settings& candidate) override {
    return tuner_.dimensions_ = tuner_.parameters_of(candidate);
  }
  /// Neighbours of what is known: the search begins there.
  std::vector<Point> starts(const Settings& candidate, const std::vector<Dimension>& dimensions) override {
    const auto known = tuner_.starts_.find(candidate);
    if (known != tuner_.starts_.end()) return known->second;
    std::vector<Point> all = tuner_.candidates_.starts(candidate, dimensions);
    all.resize(std::min<std::size_t>(all.size(), 1));
    return tuner_.starts_[candidate] = all;
  }
  bool feasible(const Settings& candidate) override { return !tuner_.plan_of(candidate).empty(); }
  std::vector<double> whole(const std::vector<Settings>& candidates) override {
    return tuner_.replayed(candidates, false);
  }
  double part(const Settings& candidate) override { return tuner_.replayed({candidate}, true).front(); }
  bool out_of_time() override { return tuner_.late(); }
  void found(const MeasuredSettings&, int) override {}

 private:
  OnlineTuner& tuner_;
};

OnlineTuner::OnlineTuner(Candidates& candidates, OnlineRequest request)
    : candidates_(candidates), request_(std::move(request)) {
  // Executions are counted, not candidates.
  request_.search.trials = 2 * std::max(1, request_.executions);
  request_.search.longest_move = 1;
  base_ = best_ = last_ = running_ = &record_of(request_.search.groups.front().front());
}

const std::string& OnlineTuner::plan_of(const Settings& candidate) {
  const auto known = plans_.find(candidate);
  return known != plans_.end() ? known->second
                               : plans_.emplace(candidate, candidates_.plan_of(candidate)).first->second;
}

OnlineTuner::Record& OnlineTuner::record_of(const Settings& candidate) {
  return records_.try_emplace(plan_of(candidate), Record{candidate, {}, false}).first->second;
}

int OnlineTuner::tried() const {
  return static_cast<int>(std::count_if(records_.begin(), records_.end(), [&](const auto& r) {
    return &r.second != base_ && r.second.count() > 0;
  }));
}

double OnlineTuner::seconds_of(const Record& record, int way) const {
  const auto w = static_cast<std::size_t>(way);
  if (!record.seconds[w].empty()) return median(record.seconds[w]);
  return &record == base_ ? cold_[w] : 0;
}

/// To the plan as it was made, in the directions in which both were executed.
std::optional<double> OnlineTuner::ratio(const Record& record) const {
  double sum = 0;
  int count = 0;
  for (const int way : {0, 1}) {
    const double mine = seconds_of(record, way), first = seconds_of(*base_, way);
    if (mine <= 0 || first <= 0) continue;
    sum += mine / first;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

double OnlineTuner::base_seconds() const {
  return seconds_of(*base_, 0) + seconds_of(*base_, 1);
}

std::vector<MeasuredSettings> OnlineTuner::measured() const {
  std::vector<MeasuredSettings> all;
  for (const auto& [plan, record] : records_)
    if (const auto r = ratio(record)) all.push_back({record.options, *r * base_seconds()});
  std::stable_sort(all.begin(), all.end(), [&](const MeasuredSettings& a, const MeasuredSettings& b) {
    const bool a_best = a.options == best(), b_best = b.options == best();
    return a_best != b_best ? a_best : a.seconds < b.seconds;
  });
  return all;
}

const Settings& OnlineTuner::next(int way) {
  return choose(way);
}

const Settings& OnlineTuner::choose(int way) {
  last_ = best_;
  if (executions() >= request_.executions) settle();
  if (settled_) return last_->options;
  if (base_->seconds[static_cast<std::size_t>(way)].empty()) {  // what others are compared with
    last_ = base_;
    return last_->options;
  }
  for (;;) {
    if (!question_ && !ask()) {
      settle();
      return best_->options;
    }
    if (Record* const candidate = wanted()) {
      if (affordable(*candidate, way)) last_ = candidate;
      return last_->options;
    }
    answer();
    last_ = best_;
  }
}

/// Runs the search until it asks for what is not known. False: it has ended.
bool OnlineTuner::ask() {
  answers_given_ = lates_given_ = 0;
  Replay replay(*this);
  try {
    tune(replay, request_.search);
    return false;
  } catch (const Asked& asked) {
    put(asked);
    return true;
  }
}

std::vector<double> OnlineTuner::replayed(const std::vector<Settings>& candidates, bool neighbour) {
  if (answers_given_ == answers_.size()) throw Asked{candidates, neighbour};
  return answers_[answers_given_++];
}

bool OnlineTuner::late() {
  if (lates_given_ == lates_.size()) lates_.push_back(executions() >= request_.executions);
  return lates_[lates_given_++];
}

void OnlineTuner::put(const Asked& asked) {
  question_ = Question{{}, {}, asked.neighbour};
  for (const Settings& candidate : asked.candidates) {
    question_->of.push_back(&record_of(candidate));
    if (asked.neighbour) question_->of.back()->at = position(candidate);
  }
  if (asked.candidates.size() == 1) return;
  // Again, in turns, if it is not clear which is the fastest and there are executions for it.
  double least = infinity;
  for (const Record* r : question_->of) least = std::min(least, ratio(*r).value_or(infinity));
  int close = 0;
  for (const Record* r : question_->of) {
    const bool again = ratio(*r).value_or(infinity) <= near * least;
    close += again ? 1 : 0;
    question_->counts.push_back(r->count() + (again ? 1 : 0));
  }
  if (close < 2 || close > request_.executions - executions())
    for (std::size_t i = 0; i < question_->of.size(); ++i) question_->counts[i] = question_->of[i]->count();
}

/// What the question still needs an execution of; null: nothing.
OnlineTuner::Record* OnlineTuner::wanted() {
  for (std::size_t i = 0; i < question_->of.size(); ++i) {
    Record& r = *question_->of[i];
    if (r.refused) continue;
    if (!question_->counts.empty()) {
      if (r.count() < question_->counts[i]) return &r;
      continue;
    }
    if (&r == base_) continue;
    if (r.count() == 0) {
      r.refused = refused(r, question_->neighbour);
      if (!r.refused) return &r;
    } else if (is_promising(r) && !confirmed(r)) {
      return &r;
    }
  }
  return nullptr;
}

const std::vector<Dimension>& OnlineTuner::parameters_of(const Settings& candidate) {
  const auto known = parameters_.find(candidate);
  return known != parameters_.end()
             ? known->second
             : parameters_.emplace(candidate, candidates_.parameters(candidate)).first->second;
}

/// The positions of a point's values in those of the dimensions; the reverse of `with_parameters`.
std::vector<int> OnlineTuner::position(const Settings& candidate) const {
  std::vector<int> at;
  std::map<std::string, std::vector<std::string>> values;
  for (const Dimension& d : dimensions_) {
    const std::string option = d.name.substr(0, d.name.find('.'));
    std::vector<std::string>& left = values[option];
    if (const auto found = candidate.find(option); left.empty() && found != candidate.end()) {
      left = split(found->second, ',');
      std::reverse(left.begin(), left.end());
    }
    const Index value = left.empty() ? -1 : std::stoll(left.back());  // -1: as the rule has it
    if (!left.empty()) left.pop_back();
    at.push_back(
        static_cast<int>(std::lower_bound(d.values.begin(), d.values.end(), value) - d.values.begin()));
  }
  return at;
}

/// Of several that are equally near the slowest.
OnlineTuner::Neighbour OnlineTuner::nearest(const Record& record) const {
  Neighbour found{0, std::numeric_limits<int>::max()};
  for (const auto& [plan, other] : records_) {
    if (other.at.size() != record.at.size() || !ratio(other)) continue;
    const double loss = std::max(0.0, *ratio(other) / best_ratio() - 1);
    int distance = 0;
    for (std::size_t d = 0; d < record.at.size(); ++d) distance += std::abs(record.at[d] - other.at[d]);
    if (distance < found.distance || (distance == found.distance && loss > found.loss))
      found = {loss, distance};
  }
  if (found.distance == std::numeric_limits<int>::max()) found.distance = 1;  // the first point of the search
  return found;
}

/// A point whose neighbour is worse than the best; what is not predicted to be good; or what differs in more,
/// if much was lost already, or in the half of the executions that parameters have for themselves.
bool OnlineTuner::refused(const Record& record, bool neighbour) {
  if (request_.at_any_cost) return false;
  if (neighbour) return nearest(record).loss > request_.gain;
  if (!request_.predicted.empty()) {
    const std::optional<double> mine = predicted(record), first = predicted(*base_);
    if (!mine && !request_.left_out.contains(plans_.at(record.options))) return true;
    if (mine && (!first || *mine > slow * best_ratio() * *first)) return true;
  }
  if (executions() >= request_.free && 2 * all_lost_ > request_.bold * request_.executions) return true;
  return request_.search.parameters && 2 * executions() >= request_.executions &&
         !parameters_of(base_->options).empty();
}

std::optional<double> OnlineTuner::predicted(const Record& record) const {
  const auto found = request_.predicted.find(plans_.at(record.options));
  return found == request_.predicted.end() ? std::nullopt : std::optional(found->second);
}

bool OnlineTuner::is_promising(const Record& record) const {
  return &record != best_ && ratio(record).value_or(infinity) <= (1 - request_.gain) * best_ratio();
}

/// A time that was good once may have been luck: twice, and in every direction that is in use.
bool OnlineTuner::confirmed(const Record& record) const {
  if (record.count() < 2) return false;
  if (question_->waited >= recent) return true;
  const std::size_t n = steps_.size();
  for (std::size_t i = n - std::min<std::size_t>(n, recent); i < n; ++i)
    if (record.seconds[static_cast<std::size_t>(steps_[i].way)].empty()) return false;
  return true;
}

void OnlineTuner::answer() {
  // As shares of the first plan's time: seconds would grow when the other direction comes into use.
  std::vector<double> times;
  for (const Record* r : question_->of) times.push_back(r->refused ? infinity : ratio(*r).value_or(infinity));
  answers_.push_back(std::move(times));
  question_.reset();
  update_best();
}

double OnlineTuner::expected_loss(const Record& record) const {
  if (const auto known = ratio(record)) return std::max(0.0, *known / best_ratio() - 1);
  const std::optional<double> mine = predicted(record), first = predicted(*base_);
  if (mine && first) return std::max(0.0, *mine / *first / best_ratio() - 1);
  // At first 5% for a neighbour, and 10% for others.
  Losses losses{question_->neighbour ? 0.05 : 0.1, 1};
  if (const auto found = losses_.find(kind(record)); found != losses_.end())
    losses = {losses.sum + found->second.sum, losses.count + found->second.count};
  const double expected = losses.sum / losses.count;
  if (!question_->neighbour) return expected;
  const Neighbour n = nearest(record);
  return n.loss + n.distance * expected;
}

std::string OnlineTuner::kind(const Record& record) const {
  if (question_->neighbour) return "";
  std::string names;
  for (const auto& [name, value] : record.options) {
    const auto same = best_->options.find(name);
    if (same == best_->options.end() || same->second != value) names += name + " ";
  }
  return names;
}

/// Whether what the next execution is expected to lose has been saved.
bool OnlineTuner::affordable(const Record& record, int way) const {
  if (&record == best_ || request_.at_any_cost) return true;
  const double best = seconds_of(*best_, way) > 0 ? seconds_of(*best_, way) : seconds_of(*base_, way);
  const double making = &record == running_ ? 0 : makings_ > 0 ? making_sum_ / makings_ : request_.making_s;
  const int paying = executions() + 1 - request_.free;
  if (paying <= 0) return making <= best;
  if (!question_->neighbour && all_lost_ > request_.bold * (executions() + 1)) return false;
  return lost_ + expected_loss(record) * best <= request_.loss * best * paying &&
         (making == 0 || making_sum_ + making <= request_.making * best * (executions() + 1));
}

void OnlineTuner::impossible(const std::string& held) {
  if (last_ == base_) {
    best_ = &records_.at(held);
    settle();
    return;
  }
  last_->refused = true;
  if (last_ == best_) best_ = base_;
}

void OnlineTuner::executed(int way, const OnlineTime& time) {
  const auto w = static_cast<std::size_t>(way);
  Record& record = *last_;
  running_ = &record;
  const double best = seconds_of(*best_, way);
  steps_.push_back({record.options, way, time, &record != best_});
  if (time.making_s > 0) {
    making_sum_ += time.making_s;
    ++makings_;
  }
  const bool free = executions() <= request_.free;
  if (time.disturbed) {
    if (&record != best_ && record.count() == 0) record.refused = true;
    return;
  }
  if (executions() == 1) {
    cold_[w] = time.seconds;
    return;
  }
  const bool first = record.count() == 0;
  record.seconds[w].push_back(time.seconds);
  if (&record == best_ || best <= 0) return;
  const double loss = std::max(0.0, time.seconds - best);
  if (!free) lost_ += loss;
  all_lost_ += loss / best;
  if (question_ && first) {
    Losses& losses = losses_[kind(record)];
    losses.sum += loss / best;
    ++losses.count;
  }
  if (question_) question_->waited += first ? 0 : 1;
  update_best();
}

/// Of all that was good twice. Another one has to be clearly better, also than the first plan.
void OnlineTuner::update_best() {
  Record* least = nullptr;
  for (auto& [plan, record] : records_) {
    const bool eligible = !record.refused && (&record == base_ || record.count() >= 2);
    if (eligible && ratio(record) && (least == nullptr || *ratio(record) < *ratio(*least))) least = &record;
  }
  if (least != nullptr && *ratio(*least) <= (1 - request_.gain) * best_ratio()) best_ = least;
  if (best_ratio() > 1) best_ = base_;
}

}  // namespace weft
