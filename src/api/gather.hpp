// Gathers the facts that a design goes by (design/setting.hpp), so that all ranks know the same.
#pragma once

#include <memory>
#include <vector>

#include "comm/comm_impl.hpp"
#include "design/setting.hpp"
#include "design/wishes.hpp"
#include "device/device.hpp"
#include "weft/problem.hpp"

namespace weft {

/// The device of this rank, and which one every rank has; none: arrays are on the host.
struct DeviceRanks {
  std::shared_ptr<Device> mine;
  std::vector<DeviceId> ids;
};

/// Collective; throws the same `weft::Error` on all ranks.
DeviceRanks find_devices(CommImpl& comm, const Problem& problem);
Setting gather_setting(CommImpl& comm, const Problem& problem, const Wishes& wishes,
                       const DeviceRanks& devices);
/// Opens the networks of exchanges that executions may try over several of them (effort online), since these
/// cannot wait for one that leads nowhere, and says in the offers how many there are. Collective; throws the
/// same `weft::Error` on all ranks.
void open_networks(CommImpl& comm, const Wishes& wishes, Setting& setting);

}  // namespace weft
