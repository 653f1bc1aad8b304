#include "api/offers.hpp"

namespace weft {

std::string why_not(const ExchangeRow& row, const Setting& setting) {
  const ExchangeTraits& traits = row.traits;
  if (!is_of_medium(traits, setting.threads)) return " among ranks of medium " + setting.medium;
  if (!works_among(traits, setting.nodes, setting.threads)) return " where no two ranks share a machine";
  if (!setting.devices) return traits.serves_host ? "" : " with arrays on the host";
  if (traits.stores && row.takes_devices == nullptr) return " with arrays in memory of a GPU";
  if (traits.stores)
    return setting.ranks() == 1 || setting.devices->islands.any_pair()
               ? ""
               : " among GPUs that do not reach each other";
  if (traits.by_device) return setting.devices->own_devices() ? "" : " among ranks that share a GPU";
  return stages(traits) ? "" : " with arrays in memory of a GPU";
}

}  // namespace weft
