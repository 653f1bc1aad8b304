// Candidates of a plan as JSON, for other ranks, wisdom and reports.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "weft/explanation.hpp"

namespace weft {

/// Times that are not known are left out.
nlohmann::json json_of_candidates(const std::vector<Candidate>& candidates);
/// Throws exceptions of the JSON library for what is no such list.
std::vector<Candidate> candidates_of_json(const nlohmann::json& json);

}  // namespace weft
