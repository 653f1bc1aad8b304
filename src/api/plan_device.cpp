// What a plan of arrays in memory of devices finds out about them first, together on all ranks.
#include <algorithm>

#include "api/plan_impl.hpp"
#include "exec/stream_plan.hpp"
#include "traffic/placement.hpp"
#include "transport/peer/peer_memory.hpp"
#include "tune/machine.hpp"

namespace weft {

namespace {

/// A GPU takes so much longer to transform a box of this size and to send it than the host to enqueue that,
/// that a graph gains nothing. On two H200 it gained 19 percent at 2 MiB, 7 at 16, 5 at 128.
constexpr double smallest_box_without_graph = 256.0 * 1024 * 1024;

/// Up to here puts are kernels.
constexpr double most_stored = 96.0 * 1024 * 1024;

/// A second workspace is no larger.
constexpr Index largest_second = Index{192} << 20;

/// For the flags in front of the workspace.
constexpr Index flag_room = Index{2} << 20;

bool all_different(std::vector<DeviceId> ids) {
  std::sort(ids.begin(), ids.end());
  return std::adjacent_find(ids.begin(), ids.end()) == ids.end();
}

}  // namespace

Index device_aligned(Index bytes) {
  return (bytes + 255) / 256 * 256;
}

/// The device of this rank, and which ranks reach each other. Among threads, one that shares its device is
/// not one of them: some calls of CUDA wait for all streams of a process on a device, those that wait for a
/// peer's included.
void PlanImpl::find_device(CommImpl& c) {
  agreed = true;
  agree(c, "plan", [&] { device = current_device(); });
  const DeviceId mine = device->id();
  device_ids.resize(static_cast<std::size_t>(c.size()));
  c.allgather(mine.data(), sizeof mine, device_ids.data());
  own_devices = all_different(device_ids);
  const auto id = [&](int rank) { return device_ids[static_cast<std::size_t>(rank)]; };
  const auto shares = [&](int rank) {
    return c.threads() != nullptr && std::count(device_ids.begin(), device_ids.end(), id(rank)) > 1;
  };
  islands = find_islands(c, [&](int rank) {
    const DeviceScope scope(*device);
    return !shares(c.rank()) && !shares(rank) && device->reaches(id(rank));
  });
  if (several_nodes(c)) no_peers = "ranks on several machines";
  if (const auto [a, b] = islands.apart; a >= 0) {
    no_peers += no_peers.empty() ? "" : ", and ";
    no_peers += shares(a) || shares(b)
                    ? "threads of one process that share a device"
                    : "devices of ranks " + std::to_string(a) + " and " + std::to_string(b) + ", " +
                          c.broadcast(device->name(), a) + " and " + c.broadcast(device->name(), b) +
                          ", do not reach each other";
  }
  agreed = false;
}

/// As wisdom knows the devices of all ranks: "2x1 NVIDIA H200, 132 multiprocessors", two with a rank each.
std::string PlanImpl::devices_text() const {
  if (!device) return "";
  std::vector<int> numbers;  // of each rank's device, that of the first rank with the same one
  for (const DeviceId& id : device_ids)
    numbers.push_back(
        static_cast<int>(std::find(device_ids.begin(), device_ids.end(), id) - device_ids.begin()));
  return ranks_text(numbers) + " " + device->model() +
         (islands.several() ? " that do not reach each other" : "");
}

void PlanImpl::check_device_options() const {
  if (options.number("threads").value_or(1) != 1)
    throw Error("plan: option threads", options.get("threads") + " with arrays in memory of a GPU",
                "1: the host does not compute");
}

/// Whether some devices reach each other, and whatever goes beside them may go through pinned memory.
bool PlanImpl::device_peers() const {
  return comm.size() == 1 || (islands.any_pair() && (!islands.several() || options.get("staging") != "off"));
}

bool PlanImpl::goes_through_host(const ExchangeRow& row, CommImpl& c) const {
  const std::string staging = options.get("staging");
  if (!stages(row) || (staging != "on" && takes_devices(row, c))) return false;
  if (staging == "off")
    throw Error(
        "plan: option staging", std::string("off with exchange ") + row.name,
        row.takes_devices == nullptr
            ? "auto: this exchange copies on the host"
            : "auto, or an MPI library that says that it takes memory of GPUs, which this one does not");
  return true;
}

bool PlanImpl::among_processes() const {
  return comm.size() > 1 && comm.impl().threads() == nullptr;
}

/// Why executions cannot be captured; empty: they can.
std::string PlanImpl::graph_obstacle() const {
  if (!device) return "arrays on the host";
  if (islands.several()) return "ranks that do not reach each other";
  // With other processes' memory only kernels and flags have been seen to be launched again without fail.
  const bool processes = among_processes();
  if (processes && !own_devices) return "processes that share a device";
  for (const Way& w : ways)
    for (const Leg& c : w.choices)
      if (processes && c.traits.stores && c.store_lane == Lane::transfer)
        return "copy engines that put in memory of other processes";
  for (const Way& w : ways)
    for (const ExchangeRow* row : w.exchanges)
      if (!row->traits.in_graphs) return std::string("exchange ") + row->name;
  return "";
}

/// On average, so that all ranks do the same.
double PlanImpl::mean_box_bytes() const {
  double bytes = 2.0 * real_size() / comm.size();
  for (const Index n : problem.shape) bytes *= static_cast<double>(n);
  return bytes;
}

/// A tile costs a put to every peer, some 20 us beside what its bytes take; an H200 transforms a MiB in 1.6
/// us.
Index PlanImpl::tile_cost() const {
  constexpr Index of_a_put = Index{16} << 20;
  return of_a_put * std::max(1, comm.size() - 1);
}

/// Whether the puts of a reshape are kernels between the FFTs. What copies beside the FFTs is faster by a
/// tenth, and takes longer to begin.
bool PlanImpl::stores(const Way& w, std::size_t reshape) const {
  const std::string asked = options.get("puts");
  if (asked != "auto") return asked == "kernel";
  return w.choices[reshape].tiles == 1 && leaving_bytes(w, reshape) <= most_stored;
}

/// What a rank sends to others in a reshape, on average, so that all ranks do the same.
double PlanImpl::leaving_bytes(const Way& w, std::size_t reshape) const {
  const auto stage = static_cast<std::size_t>(reshape_stages(w.schedule)[reshape]);
  const Field& field = w.schedule.fields[stage];
  double bytes = (field.element == Element::real ? 1 : 2) * real_size();
  for (const Index n : field.shape) bytes *= static_cast<double>(n);
  const double ranks = comm.size();
  return bytes / ranks * (ranks - 1) / ranks;
}

void PlanImpl::check_puts() const {
  const std::string asked = options.get("puts");
  if (asked == "auto") return;
  const auto direct = [](const ExchangeRow* row) { return row->traits.stores; };
  if (!device || std::none_of(rows.begin(), rows.end(), direct))
    throw Error("plan: option puts",
                asked + (device ? " without a direct exchange" : " with arrays on the host"), "auto");
}

void PlanImpl::choose_graph() {
  const std::string asked = options.get("graph"), obstacle = graph_obstacle();
  const bool small = mean_box_bytes() * static_cast<double>(problem.batch) < smallest_box_without_graph;
  plain_executions.reset();
  if (asked == "on") {
    if (!obstacle.empty()) throw Error("plan: option graph", "on with " + obstacle, "auto or off");
    plain_executions = 0;
  }
  // Arrays that never come again are not worth a graph.
  const bool worth = small && !among_processes();
  if (asked == "auto" && obstacle.empty() && worth) plain_executions = 1;
  if (!device) return;
  graph_text = std::string("graph ") + (plain_executions ? "on" : "off") +
               (asked != "auto"     ? " (as asked for)"
                : !obstacle.empty() ? " (auto: " + obstacle + ")"
                : worth             ? " (auto: small boxes; for arrays that come again)"
                : small             ? " (auto: memory of other processes)"
                                    : " (auto: boxes that take longer than the host)");
}

/// Where the workspace of every other execution begins, alike on all ranks, so that no rank tells another
/// that it may put, nor waits for that: some 7 us, which is a tenth of a small transform. 0: there is one
/// only.
Index PlanImpl::place_of_second(CommImpl& c) const {
  const auto small = [](const Way& w) {
    return !w.choices.empty() && w.choices[0].store_lane == Lane::compute;
  };
  bool possible = !islands.several() && workspace_bytes <= largest_second && small(ways[0]) && small(ways[1]);
  for (const Way& w : ways)
    for (const Way& earlier : ways)
      possible = possible && finds_room(w.executor->program(), earlier.executor->program());
  // Half of what is free is left to others.
  possible = possible && 4 * static_cast<double>(workspace_bytes) <= free_bytes;
  const Index mine = possible ? device_aligned(std::max<Index>(1, workspace_bytes)) : 0;
  std::vector<Index> all(static_cast<std::size_t>(c.size()));
  c.allgather(&mine, sizeof mine, all.data());
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  return *least == 0 ? 0 : *most;
}

/// This rank's share of the memory of its device.
void PlanImpl::find_device_memory(CommImpl& c) {
  PeerMemory::give_back();
  together(c, [&] {
    const auto sharers = static_cast<double>(std::count(device_ids.begin(), device_ids.end(), device->id()));
    free_bytes = device->free_bytes() / sharers;
    total_bytes = device->total_bytes() / sharers;
  });
}

/// Whether some device has no room for the workspace and the arrays, and another pipeline needs less: by rule
/// it is one that keeps what departs apart from where parts arrive.
bool PlanImpl::is_too_large(CommImpl& c) {
  constexpr const char* leaner = "windowed";
  if (options.get("pipeline") != "auto" || !too_large.empty() ||
      choose_pipeline_option(options, leaner).pipeline->name != std::string(leaner))
    return false;
  // What CUDA keeps for itself is some hundredth of it.
  const std::size_t in = sides[0].bytes, out = sides[1].bytes;
  const auto arrays = static_cast<double>(problem.in_place ? std::max(in, out) : in + out);
  const auto workspace = static_cast<double>(workspace_bytes + flag_room);
  const bool fits = workspace + arrays <= 0.98 * total_bytes && (users_workspace || workspace <= free_bytes);
  if (c.least(fits || program_bytes <= 2 * aligned(largest_box) ? 1 : 0) == 1) return false;
  too_large = std::string(ways[0].choices[0].pipeline) + " leaves too little memory";
  return true;
}

/// Pinned memory for parts that go through the host; the directions use the same in turn.
void PlanImpl::allocate_pinned(CommImpl& c, PlanMemory& m) const {
  const bool staged = std::any_of(rows.begin(), rows.end(),
                                  [&](const ExchangeRow* row) { return goes_through_host(*row, c); });
  m.packed_bytes = staged ? program_bytes : 0;
  Index most = 0;
  if (m.far != nullptr)
    for (const Way& w : ways) most = std::max(most, far_bytes(w.executor->program()));
  m.pinned = device->allocate_pinned(static_cast<std::size_t>(m.packed_bytes + most), "plan: workspace");
}

}  // namespace weft
