// Predictions of whole plans: the setting that a described machine makes, and a design's programs replayed on
// it. No ranks are needed.
#pragma once

#include <cstdint>
#include <vector>

#include "design/design.hpp"
#include "model/prediction.hpp"

namespace weft {

/// Ranks on a machine that is not here, with all exchanges of this build that work among them. `nodes`: the
/// machine of every rank; `threads`: ranks are threads of one process; `devices`: the number of every rank's
/// device, of those of all machines, or empty for arrays on the host. Devices of one machine reach each other
/// if it has a link between them. Throws `weft::Error` for devices on a machine without a description of one.
Setting described_setting(const MachineDescription& machine, const std::vector<int>& nodes, bool threads,
                          const std::vector<int>& devices = {});

/// Which ranks of a plan are replayed.
enum class ReplayedRanks : std::uint8_t {
  all,
  classes,  ///< ranks that are alike once (model/rank_classes.hpp)
  busiest   ///< one, for all: for comparisons of designs
};

struct PredictionRequest {
  const MachineDescription& machine;
  const Design& design;
  const Setting& setting;
  Precision precision = Precision::float64;
  std::string library = "fftw";
  ReplayedRanks ranks = ReplayedRanks::all;
};

/// One execution of the design in a direction; of arrays in memory of devices one of many with the same
/// arrays. Throws `weft::Error` for what the machine's description lacks, and, among devices, for exchanges
/// nccl and nvshmem and for an MPI that takes memory of devices, which are not modelled; and for some ranks
/// that stand for all where ranks share devices.
struct PlanPrediction {
  Direction direction = Direction::forward;
  Prediction prediction;
  Replayed replayed;
};
PlanPrediction predict(const PredictionRequest& request, Direction direction);

}  // namespace weft
