#include "api/predict.hpp"

#include "model/rank_classes.hpp"
#include "transport/transport.hpp"
#include "weft/error.hpp"

namespace weft {

Setting described_setting(const MachineDescription& machine, const std::vector<int>& nodes, bool threads) {
  Setting setting;
  setting.medium = threads ? "threads" : "mpi";
  setting.nodes = nodes;
  setting.threads = threads;
  setting.hardware_threads = {machine.processor.cores};
  setting.cache_bytes = {machine.processor.cache_bytes};
  for (const ExchangeRow& row : exchange_table()) {
    const bool works = works_among(row.traits, nodes, threads) && row.traits.serves_host;
    setting.offers.push_back({row.name, row.traits, works ? "" : " among ranks of medium " + setting.medium,
                              moves_on(row.traits, nodes)});
  }
  return setting;
}

PlanPrediction predict(const PredictionRequest& request, Direction direction) {
  const Design& design = request.design;
  if (design.on_device())
    throw Error("model", "arrays in memory of devices", "arrays on the host: devices are not predicted yet");
  ReplayRequest replay{
      request.machine,
      request.nodes,
      [&](int rank) { return program_of(design, direction, rank); },
      {request.library, static_cast<int>(real_bytes(request.precision)), 1, design.threads.value}};
  if (request.ranks == ReplayedRanks::classes)
    replay.like = like_ranks(design.schedule(direction), request.nodes);
  if (request.ranks == ReplayedRanks::busiest) replay.like = like_the_busiest(design.schedule(direction));
  PlanPrediction result;
  result.direction = direction;
  result.replayed = replay_timed(replay);
  result.prediction = summarise(result.replayed, replay);
  return result;
}

}  // namespace weft
