// Chooses by trying. Candidates are sets of options: decomposition, exchange, pipeline, layout; what they
// leave open a rule decides. Effort measure times each of them; patient goes on with Nelder and Mead's search
// over the parameters of the pipeline, as the overlap paper does, and times the finalists against each other.
// How a candidate is timed is the caller's business (`Trials`), so that all this runs without plans as well.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tune/search.hpp"

namespace weft {

/// Name of an option -> value.
using Settings = std::map<std::string, std::string>;

struct MeasuredSettings {
  Settings options;
  double seconds = 0;  ///< of the slowest rank; infinity if they do not work
};

/// What the tuner asks of whoever can plan and execute. Every answer is the same on all ranks.
class Trials {
 public:
  virtual ~Trials() = default;
  /// Times candidates whole, in turn. Infinity for what cannot be planned, or for which there is no memory:
  /// it costs no trial.
  virtual std::vector<double> whole(const std::vector<Settings>& candidates) = 0;
  /// Times a candidate without what no parameter of its pipeline changes. Comparable only among points of one
  /// candidate's parameters.
  virtual double part(const Settings& candidate) = 0;
  /// What tells candidates apart once they are planned: two of one text need not both be timed. Empty if it
  /// cannot be planned.
  virtual std::string plan_of(const Settings& candidate) = 0;
  /// The parameters of a candidate's pipeline that are open, with their values.
  virtual std::vector<Dimension> parameters(const Settings& candidate) = 0;
  /// Where to begin among them: the overlap paper's default point (section 4.4), and the rule's.
  virtual std::vector<Point> starts(const Settings& candidate, const std::vector<Dimension>& parameters) = 0;
  /// Whether a point can be planned, found out without executing anything.
  virtual bool feasible(const Settings& candidate) = 0;
  virtual bool out_of_time() = 0;
  /// The best so far has changed.
  virtual void found(const MeasuredSettings& best, int trials) = 0;
};

struct TuneRequest {
  /// Groups of candidates: the first of the first group is the rule's; each later group is tried on top of
  /// the best so far.
  std::vector<std::vector<Settings>> groups;
  bool parameters = false;  ///< whether to search among the parameters of pipelines
  bool random = false;      ///< by points drawn at random instead of Nelder and Mead
  std::uint64_t seed = 1;   ///< of random points
  int trials = 40;          ///< at most; finalists are timed once more
};

struct Tuned {
  MeasuredSettings best;
  int trials = 0;
  bool finished = true;            ///< not for lack of time
  std::vector<Trial> history;      ///< of the search among parameters
  std::vector<std::string> names;  ///< of the dimensions of its points
};

/// Chooses. `trials` is asked in the same order on all ranks.
Tuned tune(Trials& trials, const TuneRequest& request);

/// Candidate with a point's parameters: "tile.0" and "tile.1" are one option, "16,8". One with a value below
/// zero is left to the rule, for all reshapes.
Settings with_parameters(const Settings& candidate, const std::vector<Dimension>& parameters,
                         const Point& point);

}  // namespace weft
