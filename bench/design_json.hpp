// All that was chosen of a plan, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "design/design.hpp"

namespace weft::bench {

nlohmann::ordered_json json_of(const Design& design);

}  // namespace weft::bench
