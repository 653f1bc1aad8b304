// How much time planning may take.
#pragma once

#include <cstdint>

namespace weft {

enum class Effort : std::uint8_t {
  estimate,  ///< rules choose
  measure,   ///< the best few candidates are timed
  patient,   ///< the same, and then the parameters of the pipeline are searched
};

constexpr const char* name_of(Effort effort) {
  return effort == Effort::patient ? "patient" : effort == Effort::measure ? "measure" : "estimate";
}

}  // namespace weft
