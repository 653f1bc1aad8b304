// The arguments of the commands that predict whole plans: the problem, the ranks, the machine's description
// and the options of the plan; and the design and prediction that follow from them.
#pragma once

#include <string>
#include <vector>

#include "api/predict.hpp"
#include "case.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

struct PlanArguments {
  Case problem;
  std::string machine;  ///< file
  bool threads = false;
  bool every_rank = false;  ///< ranks that are alike are replayed all, on any number of ranks
  int ranks_per_node = 1;
  int devices_per_node = 0;  ///< of arrays in memory of devices; 0: one for each rank
  std::string library = "fftw";

  /// Adds all of them but the number of ranks.
  void describe(CLI::App& app);
};

/// A plan that was designed for so many ranks on a described machine, and what it is predicted to take.
struct PredictedPlan {
  Design design;
  std::vector<PlanPrediction> directions;  ///< those that were asked for
  double seconds() const;
};

/// So many ranks on a described machine. Throws `weft::Error` for a problem that is wrong.
struct DescribedRanks {
  Problem problem;
  Setting setting;
};
DescribedRanks described_ranks(const PlanArguments& arguments, const MachineDescription& machine, int ranks);

/// The description in a file. Throws `weft::Error` that names the file's field.
MachineDescription machine_in(const std::string& file);

/// From 64 ranks on, ranks that are alike are replayed once, unless every rank is asked for. Throws
/// `weft::Error`.
PredictedPlan predict_plan(const PlanArguments& arguments, const MachineDescription& machine, int ranks);

}  // namespace weft::bench
