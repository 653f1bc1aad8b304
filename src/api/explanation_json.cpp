#include "api/explanation_json.hpp"

#include "tune/candidates_json.hpp"

namespace weft {

nlohmann::ordered_json json_of(const Explanation& e) {
  return {{"chosen", e.chosen},
          {"candidates", json_of_candidates(e.candidates)},
          {"predicted_s", e.predicted_s},
          {"compute_s", e.compute_s},
          {"wire_s", e.wire_s},
          {"hangs_on", e.hangs_on},
          {"bound", e.bound},
          {"advice", e.advice}};
}

}  // namespace weft
