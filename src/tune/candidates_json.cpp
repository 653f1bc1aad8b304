#include "tune/candidates_json.hpp"

#include <nlohmann/json.hpp>

namespace weft {

nlohmann::json json_of_candidates(const std::vector<Candidate>& candidates) {
  nlohmann::json list = nlohmann::json::array();
  for (const Candidate& c : candidates) {
    nlohmann::json& j = list.emplace_back(nlohmann::json{{"options", c.options}});
    if (!c.summary.empty()) j["summary"] = c.summary;
    if (c.predicted_s > 0) j["predicted_s"] = c.predicted_s;
    if (c.measured_s > 0) j["measured_s"] = c.measured_s;
    if (!c.why.empty()) j["why"] = c.why;
  }
  return list;
}

std::vector<Candidate> candidates_of_json(const nlohmann::json& json) {
  std::vector<Candidate> list;
  for (const nlohmann::json& j : json)
    list.push_back({j.at("options").get<std::map<std::string, std::string>>(),
                    j.value("summary", std::string()), j.value("predicted_s", 0.0),
                    j.value("measured_s", 0.0), j.value("why", std::string())});
  return list;
}

}  // namespace weft
