#include "design_json.hpp"

namespace weft::bench {

using Json = nlohmann::ordered_json;

namespace {

template <class T>
Json json_of(const Chosen<T>& chosen, const Json& value) {
  return {{"value", value}, {"origin", name_of(chosen.origin)}, {"reason", chosen.reason}};
}

Json json_of(const Schedule& schedule) {
  Json stages = Json::array();
  for (std::size_t i = 0; i < schedule.stages.size(); ++i) {
    const Stage& stage = schedule.stages[i];
    const bool fft = stage.kind == Stage::Kind::fft, joins = stage.halves == Halves::join;
    const auto name = [&](const Field& f) {
      return f.tiling->name(schedule.batch_axis, schedule.halves_axis);
    };
    Json j{{"kind", joins ? "join"
                    : fft ? "fft"
                          : "reshape"},
           {"from", name(schedule.fields[i])},
           {"to", name(schedule.fields[i + 1])}};
    std::vector<int> axes(stage.axes.begin(), stage.axes.end());
    std::erase(axes, schedule.halves_axis);
    if (fft && !joins) j["axes"] = axes;
    stages.push_back(j);
  }
  return stages;
}

Json json_of(const Leg& leg) {
  Json parameters = Json::object();
  for (const ChosenParameter& p : leg.parameters)
    parameters[p.name] = {{"value", p.value}, {"origin", p.origin}};
  return {{"exchange", leg.exchange},
          {"exchange_reason", leg.exchange_reason},
          {"codec", to_string(leg.codec)},
          {"codec_reason", leg.codec_reason},
          {"pipeline", leg.pipeline},
          {"reason", leg.reason},
          {"tiles", leg.tiles},
          {"parameters", parameters}};
}

Json json_of(const MemoryMap& memory) {
  return {{"largest_box_bytes", memory.largest_box},
          {"workspace", memory.users_workspace ? "user" : "plan"},
          {"two_workspaces", memory.largest_in_turn > 0},
          {"exchange_between_far_ranks", memory.far},
          {"through_pinned_memory", memory.staged}};
}

}  // namespace

Json json_of(const Design& design) {
  Json j;
  j["decomposition"] = design.schedules[0].reason;
  j["layout"] = json_of(design.contiguous, design.contiguous.value ? "contiguous" : "strided");
  j["threads"] = json_of(design.threads, design.threads.value);
  j["graph"] = json_of(design.plain_executions, design.plain_executions.value.has_value());
  j["memory"] = json_of(design.memory);
  for (const Direction d : {Direction::forward, Direction::backward}) {
    Json legs = Json::array();
    for (const Leg& leg : design.legs_of(d)) legs.push_back(json_of(leg));
    j[name_of(d)] = {{"stages", json_of(design.schedule(d))}, {"reshapes", legs}};
  }
  return j;
}

}  // namespace weft::bench
