// Why a plan is as it is, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "weft/explanation.hpp"

namespace weft {

nlohmann::ordered_json json_of(const Explanation& explanation);
nlohmann::ordered_json json_of(const OnlineTuning& online);

}  // namespace weft
