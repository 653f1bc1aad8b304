// What was chosen, one choice per line.
#include "design/design.hpp"

#include "base/text.hpp"

namespace weft {

const char* name_of(Direction d) {
  return d == Direction::forward ? "forward" : "backward";
}

const char* name_of(Origin origin) {
  constexpr const char* names[] = {"rule", "option", "environment", "wisdom", "trial", "model", "online"};
  return at(names, static_cast<int>(origin));
}

std::string to_string(const Design& design) {
  std::string text =
      "decomposition " + design.schedules[0].reason + "\n" + weft::to_string(design.schedules[0]);
  if (design.schedules[1] != inverse(design.schedules[0]))
    text +=
        std::string(design.schedules[1].mirrored ? "backward, where it hides exchanges better"
                                                 : "backward in the order of forward, so that FFTs pack") +
        ":\n" + weft::to_string(design.schedules[1]);
  for (const Direction d : {Direction::forward, Direction::backward})
    for (std::size_t j = 0; j < design.legs_of(d).size(); ++j)
      text += std::string(name_of(d)) + " reshape " + std::to_string(j + 1) + ": " +
              weft::to_string(design.legs_of(d)[j]) + "\n";
  if (on_rails(design) && !design.rails_chosen.empty()) text += "rails: " + design.rails_chosen + "\n";
  const bool has_operator =
      stage_of_operator(design.schedules[0]) >= 0;  // what it makes of errors is not known
  if (codec_error(design, Direction::forward) > 0 && !has_operator) {
    const auto error = [&](Direction d, const char* what) {
      return scientific(codec_error(design, d)) + " " + name_of(d) +
             (leaves_out(design, d) ? std::string(" (of all ") + what + ", also those left out)" : "");
    };
    text += "codecs: relative error at most " + error(Direction::forward, "modes") + ", " +
            error(Direction::backward, "points") + "\n";
  }
  text += std::string("layout ") + (design.contiguous.value ? "contiguous" : "strided") + " (" +
          design.contiguous.reason + ")\n";
  if (design.threads.value > 1)
    text += "threads " + std::to_string(design.threads.value) + " per rank" +
            (design.threads.reason.empty() ? "" : ", " + design.threads.reason) + "\n";
  if (design.on_device())
    text += std::string("graph ") + (design.plain_executions.value ? "on" : "off") + " (" +
            design.plain_executions.reason + ")\n";
  return text;
}

}  // namespace weft
