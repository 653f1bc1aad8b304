// Chooses options by timing candidates. A candidate is a set of options such as decomposition, exchange,
// pipeline and layout; rules decide the others. Effort measure times each candidate. Effort patient then
// searches the parameters of the pipeline with Nelder and Mead's method, as the overlap paper does, and times
// the finalists against each other. The caller times candidates (`Trials`), so that the tuner can be tested
// without plans.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tune/search.hpp"

namespace weft {

/// Name of an option -> value.
using Settings = std::map<std::string, std::string>;

struct MeasuredSettings {
  Settings options;
  double seconds = 0;  ///< of the slowest rank; infinity if they cannot be planned
};

/// Why something was timed.
enum class Round : std::uint8_t {
  candidate,  ///< whole executions, alone
  play_off,   ///< those that are nearly as fast as the best candidate, again and in turns
  point,      ///< of the search, without the stages that parameters do not affect
  final       ///< the best points and the best candidate, whole and in turns
};
const char* name_of(Round round);

struct Timed {
  Round round = Round::candidate;
  MeasuredSettings what;
};

struct Tuned {
  MeasuredSettings best;
  int trials = 0;                  ///< candidates and points
  bool finished = true;            ///< false if time ran out
  std::vector<Timed> timed;        ///< all that was, in this order
  std::vector<Trial> history;      ///< of the search among parameters
  std::vector<std::string> names;  ///< of the dimensions of its points
};

/// What candidates are, without executing any. Every answer is the same on all ranks.
class Candidates {
 public:
  virtual ~Candidates() = default;
  /// A text that is the same for candidates with equal plans, of which only one needs to be timed. Empty if
  /// the candidate cannot be planned.
  virtual std::string plan_of(const Settings& candidate) = 0;
  /// The parameters of a candidate's pipeline that the user has not set, with their values.
  virtual std::vector<Dimension> parameters(const Settings& candidate) = 0;
  /// The points at which the search may begin: the overlap paper's default point (section 4.4), and the
  /// rule's.
  virtual std::vector<Point> starts(const Settings& candidate, const std::vector<Dimension>& parameters) = 0;
  /// Whether a candidate can be planned. Executes nothing.
  virtual bool feasible(const Settings& candidate) = 0;
};

/// Plans and executes candidates for the tuner. Every answer is the same on all ranks.
class Trials : public Candidates {
 public:
  /// Times whole executions of the candidates, in turns. Infinity for a candidate that cannot be planned or
  /// for which memory does not suffice; it costs no trial.
  virtual std::vector<double> whole(const std::vector<Settings>& candidates) = 0;
  /// Times a candidate without the stages that its pipeline's parameters do not affect. Such times are
  /// comparable only between points of one candidate's parameters.
  virtual double part(const Settings& candidate) = 0;
  virtual bool out_of_time() = 0;
  /// Called when the best candidate so far has changed.
  virtual void found(const MeasuredSettings& best, int trials) = 0;
  /// Called when something has been timed, the last of `so_far.timed`, before `found`.
  virtual void timed(const Tuned& /*so_far*/) {}
};

struct TuneRequest {
  /// Groups of candidates. The first candidate of the first group is the rule's choice. Candidates of later
  /// groups are added to the options of the best one so far.
  std::vector<std::vector<Settings>> groups;
  bool parameters = false;  ///< whether to search among the parameters of pipelines
  bool random = false;      ///< by random points instead of Nelder and Mead's method
  std::uint64_t seed = 1;   ///< of random points
  int trials = 40;          ///< at most; finalists are timed again in addition
  int longest_move = 0;     ///< see `SearchLimits`
};

/// Runs the tuner. All ranks call `trials` in the same order.
Tuned tune(Trials& trials, const TuneRequest& request);

/// The candidate with a point's parameters: "tile.0" and "tile.1" become one option, "16,8". A parameter with
/// a negative value is left to the rule, for all reshapes.
Settings with_parameters(const Settings& candidate, const std::vector<Dimension>& parameters,
                         const Point& point);

}  // namespace weft
