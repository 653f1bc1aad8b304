#include "api/machine_choice.hpp"

#include <fstream>
#include <sstream>

#include "base/warning.hpp"
#include "model/machine_json.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

/// Of the devices of these ranks, and of links between those that reach each other.
bool describes(const MachineDescription& machine, const DeviceFacts& devices) {
  const bool meet = devices.own_devices() && any_equal(devices.islands.of);
  return machine.device && machine.device->name == devices.model &&
         (!meet || find_link(machine, over_peer, by_stores) != nullptr);
}

bool serves(const MachineDescription& machine, const Setting& setting) {
  const bool far = setting.several_nodes();
  if (setting.devices && !describes(machine, *setting.devices)) return false;
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
  const std::string device = setting.devices ? setting.devices->model : "";
  std::optional<MachineDescription> found;
  for (const auto& [name, json] : wisdom.descriptions()) {
    if (!name.starts_with(machine.hardware + ", ")) continue;
    try {
      MachineDescription described = read_machine(json);
      if (!serves(described, setting)) continue;
      if (name == machine.described(device)) return described;
      if (!found) found = std::move(described);
    } catch (const Error& e) {  // anybody may have written the file
      if (warns) warn("what wisdom says of the machine is not used: " + std::string(e.what()));
    }
  }
  return found;
}

}  // namespace weft
