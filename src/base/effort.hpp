// How much time planning may take.
#pragma once

#include <cstdint>

namespace weft {

enum class Effort : std::uint8_t {
  estimate,  ///< rules choose
  measure,   ///< the best few candidates are timed
  patient,   ///< the same, and then the parameters of the pipeline are searched
  online,    ///< rules choose, and the first executions try neighbours
};

/// Whether planning itself times anything.
constexpr bool makes_trials(Effort effort) {
  return effort == Effort::measure || effort == Effort::patient;
}

constexpr const char* name_of(Effort effort) {
  switch (effort) {
    case Effort::measure:
      return "measure";
    case Effort::patient:
      return "patient";
    case Effort::online:
      return "online";
    default:
      return "estimate";
  }
}

}  // namespace weft
