#include "api/explanation_json.hpp"

#include "tune/candidates_json.hpp"

namespace weft {

nlohmann::ordered_json json_of(const OnlineTuning& online) {
  nlohmann::ordered_json j = {{"state", online.state},
                              {"trying", online.trying},
                              {"tried", online.tried},
                              {"ratio", online.ratio},
                              {"executions", nlohmann::ordered_json::array()}};
  for (const OnlineExecution& e : online.executions)
    j["executions"].push_back({{"direction", e.forward ? "forward" : "backward"},
                               {"options", e.options},
                               {"tried", e.tried},
                               {"seconds", e.seconds},
                               {"making_s", e.making_s},
                               {"disturbed", e.disturbed}});
  return j;
}

nlohmann::ordered_json json_of(const Explanation& e) {
  nlohmann::ordered_json json = {{"chosen", e.chosen},
                                 {"candidates", json_of_candidates(e.candidates)},
                                 {"predicted_s", e.predicted_s},
                                 {"compute_s", e.compute_s},
                                 {"wire_s", e.wire_s},
                                 {"hangs_on", e.hangs_on},
                                 {"bound", e.bound},
                                 {"advice", e.advice}};
  if (!e.online.state.empty()) json["online"] = json_of(e.online);
  return json;
}

}  // namespace weft
