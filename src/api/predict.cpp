#include "api/predict.hpp"

#include <algorithm>

#include "api/offers.hpp"
#include "model/rank_classes.hpp"
#include "program/stream_plan.hpp"
#include "transport/transport.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

/// As of devices that are here: a thread that shares its device reaches no other.
DeviceFacts described_devices(const MachineDescription& machine, const Setting& setting,
                              const std::vector<int>& devices) {
  if (devices.size() != setting.nodes.size())
    throw Error("model",
                std::to_string(devices.size()) + " devices of " + std::to_string(setting.ranks()) + " ranks",
                "the number of a device for each");
  const bool linked = find_link(machine, over_peer, by_stores) != nullptr;
  const auto shares = [&](int rank) {
    return setting.threads && std::count(devices.begin(), devices.end(), at(devices, rank)) > 1;
  };
  DeviceFacts facts;
  facts.islands = islands_of(setting.nodes, [&](int a, int b) {
    return !shares(a) && !shares(b) && (linked || at(devices, a) == at(devices, b));
  });
  facts.numbers = devices;
  if (setting.several_nodes()) facts.no_peers = "ranks on several machines";
  if (const auto [a, b] = facts.islands.apart; a >= 0)
    facts.no_peers += std::string(facts.no_peers.empty() ? "" : ", and ") +
                      (shares(a) || shares(b) ? "threads of one process that share a device"
                                              : "a machine without a link between devices");
  facts.text = facts.model = device_of(machine).name;
  return facts;
}

/// In how many reshapes, the first ones, no rank waits for room.
int roomy_reshapes(const Design& design) {
  const bool in_turn = lands_in_turn(design);
  const auto finds = in_turn ? finds_room_in_turn : finds_room;
  for (int r = 0; r < design.schedules[0].ranks; ++r) {
    const Program forward = program_of(design, Direction::forward, r),
                  backward = program_of(design, Direction::backward, r);
    for (const Program* p : {&forward, &backward})
      if (p->workspace_bytes > design.memory.largest_in_turn || !finds(*p, forward) || !finds(*p, backward))
        return 0;
  }
  return in_turn ? 2 : 1;
}

/// What a library of the host takes from one device to another is not modelled.
void check_staging(const Design& design, Direction direction) {
  const std::vector<std::string>& staged = design.memory.staged;
  for (const Leg& leg : design.legs_of(direction))
    if (!leg.traits.stores && !leg.traits.by_device &&
        std::find(staged.begin(), staged.end(), leg.exchange) == staged.end())
      throw Error("model", "exchange " + leg.exchange + ", given memory of devices",
                  "option staging=on, or exchange direct");
}

/// The reshapes whose exchanges go in rounds that need not be alike; padded ones are.
std::vector<int> uneven_rounds(const Design& design, Direction direction) {
  std::vector<int> reshapes;
  const std::vector<Leg>& legs = design.legs_of(direction);
  for (int j = 0; j < static_cast<int>(legs.size()); ++j)
    if (at(legs, j).traits.in_rounds && at(legs, j).traits.form != Form::padded) reshapes.push_back(j);
  return reshapes;
}

}  // namespace

Setting described_setting(const MachineDescription& machine, const std::vector<int>& nodes, bool threads,
                          const std::vector<int>& devices) {
  Setting setting;
  setting.medium = threads ? "threads" : "mpi";
  setting.nodes = nodes;
  setting.threads = threads;
  setting.hardware_threads = {machine.processor.cores};
  setting.cache_bytes = {machine.processor.cache_bytes};
  if (!devices.empty()) setting.devices = described_devices(machine, setting, devices);
  for (const ExchangeRow& row : exchange_table())
    setting.offers.push_back({row.name, row.traits, why_not(row, setting), moves_on(row.traits, nodes)});
  return setting;
}

PlanPrediction predict(const PredictionRequest& request, Direction direction) {
  const Design& design = request.design;
  const Setting& setting = request.setting;
  ReplayRequest replay{
      request.machine,
      setting.nodes,
      [&](int rank) { return program_of(design, direction, rank); },
      {request.library, static_cast<int>(real_bytes(request.precision)), 1, design.threads.value}};
  replay.rails = wanted_rails(design.rails.rails);
  replay.groups_of = [&](int reshape) { return exchange_groups(design.schedule(direction), reshape); };
  if (request.ranks == ReplayedRanks::classes)
    replay.like = like_ranks(design.schedule(direction), setting.nodes, uneven_rounds(design, direction));
  if (request.ranks == ReplayedRanks::busiest) replay.like = like_the_busiest(design.schedule(direction));
  if (design.on_device()) {
    check_staging(design, direction);
    if (request.ranks != ReplayedRanks::all && !setting.devices->own_devices())
      throw Error("model", "some of the ranks for all, where ranks share devices", "all ranks replayed");
    replay.device = {setting.devices->numbers, design.plain_executions.value.has_value(),
                     roomy_reshapes(design)};
  }
  PlanPrediction result;
  result.direction = direction;
  result.replayed = replay_timed(replay);
  result.prediction = summarise(result.replayed, replay);
  return result;
}

}  // namespace weft
