// What was chosen, one choice per line.
#include "design/design.hpp"

namespace weft {

const char* name_of(Direction d) {
  return d == Direction::forward ? "forward" : "backward";
}

std::string legs_to_string(const Design& design) {
  std::string text =
      "decomposition " + design.schedules[0].reason + "\n" + weft::to_string(design.schedules[0]);
  for (const Direction d : {Direction::forward, Direction::backward})
    for (std::size_t j = 0; j < design.legs_of(d).size(); ++j)
      text += std::string(name_of(d)) + " reshape " + std::to_string(j + 1) + ": " +
              weft::to_string(design.legs_of(d)[j]) + "\n";
  return text;
}

std::string launch_to_string(const Design& design) {
  std::string text;
  if (design.threads.value > 1)
    text += "threads " + std::to_string(design.threads.value) + " per rank" +
            (design.threads.reason.empty() ? "" : ", " + design.threads.reason) + "\n";
  if (design.on_device())
    text += std::string("graph ") + (design.plain_executions.value ? "on" : "off") + " (" +
            design.plain_executions.reason + ")\n";
  return text;
}

std::string to_string(const Design& design) {
  return legs_to_string(design) + "layout " + (design.contiguous.value ? "contiguous" : "strided") + " (" +
         design.contiguous.reason + ")\n" + launch_to_string(design);
}

}  // namespace weft
