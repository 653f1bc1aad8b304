// What a plan of arrays in memory of devices finds out about them first, together on all ranks.
#include <algorithm>

#include "api/plan_impl.hpp"
#include "tune/machine.hpp"

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

Index device_aligned(Index bytes) {
  return (bytes + 255) / 256 * 256;
}

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
  } else if (c.threads() != nullptr && !own_devices) {
    // Some calls of CUDA wait for all streams of a process on a device, those that wait for a peer's
    // included.
    no_peers = "threads of one process that share a device";
  } else if (first != all.end()) {
    const int rank = static_cast<int>(first - all.begin());
    no_peers = "devices of ranks " + std::to_string(rank) + " and " + std::to_string(*first) + ", " +
               c.broadcast(device->name(), rank) + " and " + c.broadcast(device->name(), *first) +
               ", do not reach each other";
  }
  peers = no_peers.empty();
  agreed = false;
}

/// As wisdom knows the devices of all ranks: "2x1 NVIDIA H200, 132 multiprocessors", two with a rank each.
std::string PlanImpl::devices_text() const {
  if (!device) return "";
  std::vector<int> numbers;  // of each rank's device, that of the first rank with the same one
  for (const DeviceId& id : device_ids)
    numbers.push_back(
        static_cast<int>(std::find(device_ids.begin(), device_ids.end(), id) - device_ids.begin()));
  return ranks_text(numbers) + " " + device->model() + (peers ? "" : " that do not reach each other");
}

void PlanImpl::check_device_options() const {
  if (options.number("threads").value_or(1) != 1)
    throw Error("plan: option threads", options.get("threads") + " with arrays in memory of a GPU",
                "1: the host does not compute");
}

/// As `make_memory`. What devices copy into directly is given to all, behind the flags that guard it.
void PlanImpl::make_device_memory(CommImpl& c) {
  ExchangeMemory exchange_memory;
  exchange_memory.fft_work_offset = device_aligned(program_bytes);
  const auto any = [&](const auto& of) { return std::any_of(rows.begin(), rows.end(), of); };
  const bool direct = any([](const ExchangeRow* row) { return row->carry == Carry::direct; });
  const bool staged = any([](const ExchangeRow* row) { return stages(*row); });
  const bool exchanges = !ways[0].choices.empty();
  if (direct && exchanges) {
    const Index reshapes = static_cast<Index>(ways[0].choices.size() + ways[1].choices.size());
    const Index flags = device_aligned(reshapes * direct_flag_bytes(c.size()));
    agreed = true;
    exchange_memory.peers =
        std::make_shared<PeerMemory>(c, device, device_ids, static_cast<std::size_t>(flags + workspace_bytes),
                                     static_cast<std::size_t>(flags));
    agreed = false;
    exchange_memory.workspace_offset = flags;
    memory = {exchange_memory.peers, exchange_memory.peers->of(c.rank()) + flags};
  }
  agreed = true;
  for (const ExchangeRow* row : rows)
    if (row->prepare != nullptr && exchanges) row->prepare(c, device);
  agreed = false;
  together(c, [&] {
    constexpr const char* operation = "plan: workspace";
    if (!memory && !users_workspace)
      memory = device->allocate(static_cast<std::size_t>(workspace_bytes), operation);
    exchange_memory.workspace = memory;
    if (staged && exchanges)
      exchange_memory.pinned = device->allocate_pinned(static_cast<std::size_t>(program_bytes), operation);
    for (Way& w : ways) {
      w.executor->make_exchanges(c, w.exchanges, w.groups, exchange_memory);
      exchange_memory.flags_offset += static_cast<Index>(w.choices.size()) * direct_flag_bytes(c.size());
    }
  });
}

}  // namespace weft
