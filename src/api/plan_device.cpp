// What a plan of arrays in memory of devices finds out about them first, together on all ranks.
#include <algorithm>

#include "api/plan_impl.hpp"

namespace weft {

namespace {

/// The first rank whose device this one's does not reach; -1: none.
int unreached(const Device& device, const std::vector<DeviceId>& ids) {
  const auto r =
      std::find_if(ids.begin(), ids.end(), [&](const DeviceId& id) { return !device.reaches(id); });
  return r == ids.end() ? -1 : static_cast<int>(r - ids.begin());
}

/// A GPU takes longer to transform a box of this size and to send it than the host to enqueue that: some
/// 300 us and 60 to 100. Above it a graph gains nothing.
constexpr double smallest_box_without_graph = 64.0 * 1024 * 1024;

/// Of all reshapes, in memory of the device.
Index flag_bytes(const PlanImpl::Way& way) {
  const Program& program = way.executor->program();
  Index bytes = 0;
  for (const ReshapeProgram& r : program.reshapes) bytes += peer_flag_bytes(r.messages, program.ranks);
  return bytes;
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

void PlanImpl::check_device_options() const {
  const auto refuse = [&](const char* name, const char* expected) {
    throw Error(std::string("plan: option ") + name, options.get(name) + " with arrays in memory of a GPU",
                expected);
  };
  if (options.get("effort") != "estimate") refuse("effort", "estimate");
  if (options.number("threads").value_or(1) != 1) refuse("threads", "1: the host does not compute");
  if (options.get("pipeline") == "two-front") refuse("pipeline", "sequential, th, windowed or planes");
}

/// Why executions cannot be captured; empty: they can.
std::string PlanImpl::graph_obstacle() const {
  if (!device) return "arrays on the host";
  for (const Way& w : ways)
    for (const ExchangeRow* row : w.exchanges)
      if (!row->in_graphs) return std::string("exchange ") + row->name;
  return "";
}

/// On average, so that all ranks do the same.
bool PlanImpl::is_small(int ranks) const {
  double bytes = 2.0 * real_size() * static_cast<double>(problem.batch) / ranks;
  for (const Index n : problem.shape) bytes *= static_cast<double>(n);
  return bytes < smallest_box_without_graph;
}

void PlanImpl::choose_graph(int ranks) {
  const std::string asked = options.get("graph"), obstacle = graph_obstacle();
  plain_executions.reset();
  if (asked == "on") {
    if (!obstacle.empty()) throw Error("plan: option graph", "on with " + obstacle, "auto or off");
    plain_executions = 0;
  }
  // Arrays that never come again are not worth a graph.
  if (asked == "auto" && obstacle.empty() && is_small(ranks)) plain_executions = 1;
  if (!device) return;
  graph_text = std::string("graph ") + (plain_executions ? "on" : "off") +
               (asked != "auto"     ? " (as asked for)"
                : !obstacle.empty() ? " (auto: " + obstacle + ")"
                : is_small(ranks)   ? " (auto: small boxes; for arrays that come again)"
                                    : " (auto: boxes that take longer than the host)");
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
    const Index flags = device_aligned(flag_bytes(ways[0]) + flag_bytes(ways[1]));
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
      exchange_memory.flags_offset += flag_bytes(w);
    }
  });
}

}  // namespace weft
