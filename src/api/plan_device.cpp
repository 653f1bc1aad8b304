// What a plan of arrays in memory of devices finds out about them first, together on all ranks.
#include <algorithm>

#include "api/plan_impl.hpp"
#include "comm/agree.hpp"

namespace weft {

namespace {

/// The first rank whose device this one's does not reach; -1: none.
int unreached(const Device& device, const std::vector<DeviceId>& ids) {
  const auto r =
      std::find_if(ids.begin(), ids.end(), [&](const DeviceId& id) { return !device.reaches(id); });
  return r == ids.end() ? -1 : static_cast<int>(r - ids.begin());
}

bool all_different(std::vector<DeviceId> ids) {
  std::sort(ids.begin(), ids.end());
  return std::adjacent_find(ids.begin(), ids.end()) == ids.end();
}

}  // namespace

/// The device of this rank, and whether it reaches those of all others.
void PlanImpl::find_device(CommImpl& c) {
  agreed = true;
  agree(c, "plan", [&] { device = current_device(); });
  const DeviceId mine = device->id();
  device_ids.resize(static_cast<std::size_t>(c.size()));
  c.allgather(mine.data(), sizeof mine, device_ids.data());
  own_devices = all_different(device_ids);
  int missed = -1;
  agree(c, "plan", [&] {
    const DeviceScope scope(*device);
    if (!several_nodes(c)) missed = unreached(*device, device_ids);
  });
  std::vector<int> all(device_ids.size());
  c.allgather(&missed, sizeof missed, all.data());
  const auto first = std::find_if(all.begin(), all.end(), [](int m) { return m >= 0; });
  if (several_nodes(c)) {
    no_peers = "ranks on several machines";
  } else if (first != all.end()) {
    const int rank = static_cast<int>(first - all.begin());
    no_peers = "devices of ranks " + std::to_string(rank) + " and " + std::to_string(*first) + ", " +
               c.broadcast(device->name(), rank) + " and " + c.broadcast(device->name(), *first) +
               ", do not reach each other";
  }
  peers = no_peers.empty();
  agreed = false;
}

}  // namespace weft
