#include "traffic/leg.hpp"

namespace weft {

std::string to_string(const Leg& leg) {
  std::string text =
      "exchange " + leg.exchange + (leg.exchange_reason.empty() ? "" : " (" + leg.exchange_reason + ")") +
      (leg.codec_reason.empty() ? "" : ", codec " + to_string(leg.codec) + " (" + leg.codec_reason + ")") +
      ", pipeline " + leg.pipeline;
  if (leg.axis >= 0) text += " along " + leg.axis_name;
  text += ": " + leg.reason;
  for (std::size_t i = 0; i < leg.parameters.size(); ++i) {
    const ChosenParameter& p = leg.parameters[i];
    text += (i == 0 ? "; " : ", ") + p.name + " " + (p.value < 0 ? "auto" : std::to_string(p.value)) + " (" +
            p.origin + ")";
  }
  return text;
}

}  // namespace weft
