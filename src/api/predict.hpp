// Predictions of whole plans: the setting that a described machine makes, and a design's programs replayed on
// it. No ranks are needed.
#pragma once

#include <cstdint>
#include <vector>

#include "design/design.hpp"
#include "model/prediction.hpp"

namespace weft {

/// Ranks on a machine that is not here, with all exchanges of this build that work among them. `nodes`: the
/// machine of every rank; `threads`: ranks are threads of one process.
Setting described_setting(const MachineDescription& machine, const std::vector<int>& nodes, bool threads);

/// Which ranks of a plan are replayed.
enum class ReplayedRanks : std::uint8_t {
  all,
  classes,  ///< ranks that are alike once (model/rank_classes.hpp)
  busiest   ///< one, for all: for comparisons of designs
};

struct PredictionRequest {
  const MachineDescription& machine;
  const Design& design;
  std::vector<int> nodes;  ///< the machine of every rank
  Precision precision = Precision::float64;
  std::string library = "fftw";
  ReplayedRanks ranks = ReplayedRanks::all;
};

/// One execution of the design in a direction. Throws `weft::Error` for arrays in memory of devices, and for
/// what the machine's description lacks.
struct PlanPrediction {
  Direction direction = Direction::forward;
  Prediction prediction;
  Replayed replayed;
};
PlanPrediction predict(const PredictionRequest& request, Direction direction);

}  // namespace weft
