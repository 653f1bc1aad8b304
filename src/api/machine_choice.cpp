#include "api/machine_choice.hpp"

#include <fstream>
#include <sstream>

#include "base/warning.hpp"
#include "model/machine_json.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

bool has_links_for(const MachineDescription& machine, const Setting& setting) {
  const bool far = setting.several_nodes();
  return (!far || find_link(machine, "network", "messages") != nullptr) &&
         (!setting.any_share_memory() || find_link(machine, "node", "messages") != nullptr) &&
         (far || !machine.emulated);
}

}  // namespace

MachineDescription described_in(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw Error("plan: option machine", "\"" + file + "\", which cannot be read",
                "a file of weft-bench --measure-machine");
  std::ostringstream text;
  text << stream.rdbuf();
  try {
    return read_machine(text.str());
  } catch (const Error& e) {
    throw Error("plan: option machine", "\"" + file + "\": " + e.what(),
                "a file of weft-bench --measure-machine");
  }
}

std::optional<MachineDescription> described_by(const Wisdom& wisdom, const Machine& machine,
                                               const Setting& setting, bool warns) {
  std::optional<MachineDescription> found;
  for (const auto& [name, json] : wisdom.descriptions()) {
    if (!name.starts_with(machine.hardware + ", ")) continue;
    try {
      MachineDescription described = read_machine(json);
      if (!has_links_for(described, setting)) continue;
      if (name == machine.described()) return described;
      if (!found) found = std::move(described);
    } catch (const Error& e) {  // anybody may have written the file
      if (warns) warn("what wisdom says of the machine is not used: " + std::string(e.what()));
    }
  }
  return found;
}

}  // namespace weft
