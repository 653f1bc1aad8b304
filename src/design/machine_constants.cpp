#include "design/machine_constants.hpp"

#include <type_traits>

namespace weft {

std::map<std::string, double> MachineConstants::to_map() const {
  return {{"subtile", static_cast<double>(subtile)},
          {"store_past_from", store_past_from},
          {"two_passes_from", two_passes_from}};
}

MachineConstants MachineConstants::from_map(const std::map<std::string, double>& values) {
  MachineConstants c;
  const auto take = [&](const char* name, double least, double most, auto& constant) {
    const auto found = values.find(name);
    if (found == values.end() || !(found->second >= least && found->second <= most)) return;
    constant = static_cast<std::remove_reference_t<decltype(constant)>>(found->second);
  };
  take("subtile", 1 << 10, 1 << 30, c.subtile);
  take("store_past_from", 0, 1e9, c.store_past_from);
  take("two_passes_from", 0, 1e9, c.two_passes_from);
  return c;
}

}  // namespace weft
