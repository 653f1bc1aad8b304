// Tuning by the executions of a plan itself (effort online). The search is that of trials, `tune`, which asks
// for the times of candidates. Here an answer takes executions of the user's, so the search is run anew after
// each answer, with the answers so far, until it asks what is not known yet: it follows from them alone. What
// a try may lose is bounded. Knows nothing of plans, clocks or ranks: ranks that are given equal times decide
// alike.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tune/tuner.hpp"

namespace weft {

struct OnlineRequest {
  TuneRequest search;  ///< the first candidate of the first group is the plan as it was made
  int executions = 20;
  double making_s = 0;  ///< what making the plan took: so long another one may take, until one was made
  /// Predicted seconds by `Candidates::plan_of`. If there are any, nothing else is tried but parameters, and
  /// what predictions leave out.
  std::map<std::string, double> predicted;
  std::set<std::string> left_out;  ///< by `Candidates::plan_of`

  // What tries may cost. So many executions may lose what they like; each later one adds a share of its time
  // to what later tries may lose. A try is made once what it is expected to lose has been saved. Making plans
  // takes no more than another share of all executions.
  int free = 3;
  double loss = 0.05;
  double making = 0.1;
  /// All that was lost, also by free ones, beyond which only neighbours are tried: a share of all executions.
  double bold = 0.1;
  double gain = 0.02;        ///< what is not better by so much is not better
  bool at_any_cost = false;  ///< without these bounds, for tests
};

/// Of an execution, alike on all ranks.
struct OnlineTime {
  double seconds = 0;
  double making_s = 0;     ///< what making its plan took before it
  bool disturbed = false;  ///< it was not alone: its time says nothing
};

/// An execution of those that tried.
struct OnlineStep {
  Settings options;
  int way = 0;  ///< 0 forward, 1 backward
  OnlineTime time;
  bool tried = false;  ///< not the best known one
};

class OnlineTuner {
 public:
  /// `candidates` must outlive the object.
  OnlineTuner(Candidates& candidates, OnlineRequest request);

  /// The options of the next execution in a direction.
  const Settings& next(int way);
  /// What `next` said last cannot be made. `next` is asked again. `held`: the plan that is there, which ends
  /// the search if it was the first one that cannot be made: others have nothing to be compared with.
  void impossible(const std::string& held);
  /// What the execution took that `next` was asked for.
  void executed(int way, const OnlineTime& time);

  bool settled() const { return settled_; }
  int executions() const { return static_cast<int>(steps_.size()); }
  int most_executions() const { return request_.executions; }
  /// How many plans were tried beside the first.
  int tried() const;
  const Settings& best() const { return best_->options; }
  /// Seconds of the best plan and of the first one in a direction; 0: not known.
  double best_seconds(int way) const { return seconds_of(*best_, way); }
  double first_seconds(int way) const { return seconds_of(*base_, way); }
  /// The time of the best plan over that of the first; 1 if nothing is better.
  double best_ratio() const { return ratio(*best_).value_or(1); }
  const std::vector<OnlineStep>& steps() const { return steps_; }
  /// All that was executed, the best first, with seconds of the directions that were executed, together.
  std::vector<MeasuredSettings> measured() const;
  /// `Candidates::plan_of`, remembered.
  const std::string& plan_of(const Settings& candidate);

 private:
  class Replay;
  struct Asked {
    std::vector<Settings> candidates;
    bool neighbour;  ///< differs in one parameter from what is known
  };
  /// What is known of a plan.
  struct Record {
    Settings options;
    std::array<std::vector<double>, 2> seconds;  ///< by direction
    bool refused = false;                        ///< cannot be made, or is not to be tried
    std::vector<int> at = {};                    ///< of a point of the search: positions of its values
    std::size_t count() const { return seconds[0].size() + seconds[1].size(); }
  };
  struct Question {
    std::vector<Record*> of;
    std::vector<std::size_t> counts;  ///< executions that each must have had; empty: one candidate alone
    bool neighbour;
    int waited = 0;
  };
  struct Neighbour {
    double loss;   ///< of the nearest point that was executed, beside the best plan
    int distance;  ///< to that, in positions of values
  };
  /// What tries of one kind have lost, as shares of an execution.
  struct Losses {
    double sum = 0;
    int count = 0;
  };

  const Settings& choose(int way);
  bool ask();
  void put(const Asked& asked);
  std::vector<double> replayed(const std::vector<Settings>& candidates, bool neighbour);
  bool late();
  Record* wanted();
  bool confirmed(const Record& record) const;
  bool refused(const Record& record, bool neighbour);
  void answer();
  bool affordable(const Record& record, int way) const;
  double expected_loss(const Record& record) const;
  /// What tries are alike in: the options in which a candidate differs from the best one; "" for neighbours.
  std::string kind(const Record& record) const;
  bool is_promising(const Record& record) const;
  void update_best();
  void settle() { settled_ = true; }
  Record& record_of(const Settings& candidate);
  double seconds_of(const Record& record, int way) const;
  std::optional<double> ratio(const Record& record) const;
  double base_seconds() const;
  const std::vector<Dimension>& parameters_of(const Settings& candidate);
  std::vector<int> position(const Settings& candidate) const;
  Neighbour nearest(const Record& record) const;
  std::optional<double> predicted(const Record& record) const;

  Candidates& candidates_;
  OnlineRequest request_;
  std::map<Settings, std::string> plans_;
  std::map<Settings, std::vector<Dimension>> parameters_;
  std::map<Settings, std::vector<Point>> starts_;
  std::vector<Dimension> dimensions_;      ///< of the search among parameters
  std::map<std::string, Record> records_;  ///< by plan
  Record* base_ = nullptr;
  Record* best_ = nullptr;
  Record* last_ = nullptr;            ///< of the last `next`
  Record* running_ = nullptr;         ///< executed last, so that its plan is there
  std::array<double, 2> cold_{0, 0};  ///< of the first execution, which is slower than others
  std::vector<OnlineStep> steps_;
  bool settled_ = false;

  // The search so far.
  std::vector<std::vector<double>> answers_;
  std::vector<bool> lates_;
  std::size_t answers_given_ = 0, lates_given_ = 0;  ///< in this run of it
  std::optional<Question> question_;

  double lost_ = 0, making_sum_ = 0;
  double all_lost_ = 0;  ///< in executions; `lost_` is in seconds, without those that are free
  int makings_ = 0;
  std::map<std::string, Losses> losses_;  ///< by kind
};

}  // namespace weft
