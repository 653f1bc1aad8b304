// How executions are launched: threads on the host, kernels, copy engines and graphs on devices.
#include <algorithm>

#include "design/rules/rules.hpp"

namespace weft {

namespace {

/// A GPU takes so much longer to transform a box of this size and to send it than the host to enqueue that,
/// that a graph gains nothing. On two H200 it gained 19 percent at 2 MiB, 7 at 16, 5 at 128.
constexpr double smallest_box_without_graph = 256.0 * 1024 * 1024;

/// Up to here puts are kernels.
constexpr double most_stored = 96.0 * 1024 * 1024;

/// On average, so that all ranks do the same.
double mean_box_bytes(const Given& given) {
  double bytes = 2.0 * given.real_size() / given.setting.ranks();
  for (const Index n : given.problem.shape) bytes *= static_cast<double>(n);
  return bytes;
}

/// What a rank sends to others in a reshape, on average, so that all ranks do the same.
double leaving_bytes(const Given& given, const Schedule& schedule, std::size_t reshape) {
  const Field& field = schedule.fields[static_cast<std::size_t>(reshape_stages(schedule)[reshape])];
  double bytes = (field.element == Element::real ? 1 : 2) * given.real_size();
  for (const Index n : field.shape) bytes *= static_cast<double>(n);
  const double ranks = given.setting.ranks();
  return bytes / ranks * (ranks - 1) / ranks;
}

/// Why executions cannot be captured; empty: they can.
std::string graph_obstacle(const Given& given, const Offers& offers, const Design& design) {
  if (!given.on_device()) return "arrays on the host";
  if (given.problem.between != Between::none) return "an operator of the caller's between the transforms";
  if (given.setting.devices->islands.several()) return "ranks that do not reach each other";
  // With other processes' memory only kernels and flags have been seen to be launched again without fail.
  const bool processes = given.setting.among_processes();
  if (processes && !given.setting.devices->own_devices()) return "processes that share a device";
  for (const auto& legs : design.legs)
    for (const Leg& leg : legs)
      if (processes && leg.traits.stores && leg.store_lane == Lane::transfer)
        return "copy engines that write to the memory of other processes";
  if (!given.setting.devices->captures_flags && !design.legs[0].empty())
    return "devices whose flags graphs do not capture";
  for (const Offer* offer : offers)
    if (!offer->traits.in_graphs && !design.legs[0].empty()) return "exchange " + offer->name;
  return "";
}

}  // namespace

bool kernels_may_put(const Given& given, const Schedule& schedule, std::size_t reshape) {
  return leaving_bytes(given, schedule, reshape) <= most_stored;
}

/// What copies beside the FFTs is faster by a tenth, and takes longer to begin.
void choose_puts(const Given& given, const Offers& offers, Design& design) {
  const Puts asked = given.wishes.puts.value;
  const bool any_stores =
      std::any_of(offers.begin(), offers.end(), [](const Offer* o) { return o->traits.stores; });
  if (asked != Puts::automatic && (!given.on_device() || !any_stores))
    throw Error("plan: option puts",
                std::string(asked == Puts::kernel ? "kernel" : "engine") +
                    (given.on_device() ? " without a direct exchange" : " with arrays on the host"),
                "auto");
  for (Schedule& schedule : design.schedules) {
    std::vector<Leg>& legs = design.legs[static_cast<std::size_t>(schedule.direction)];
    for (std::size_t j = 0; given.on_device() && j < legs.size(); ++j) {
      if (!legs[j].traits.stores) continue;
      const bool kernel =
          asked == Puts::automatic
              ? legs[j].tiles == 1 && (design.memory.ffts_put || kernels_may_put(given, schedule, j))
              : asked == Puts::kernel;
      if (!kernel) continue;
      legs[j].store_lane = Lane::compute;
      legs[j].exchange_reason += "; puts are kernels";
    }
  }
}

Chosen<std::optional<int>> choose_graph(const Given& given, const Offers& offers, const Design& design) {
  const Wish<Switch>& asked = given.wishes.graph;
  const std::string obstacle = graph_obstacle(given, offers, design);
  if (asked.value == Switch::on) {
    if (!obstacle.empty()) throw Error("plan: option graph", "on with " + obstacle, "auto or off");
    return {0, asked.origin, asked.reason()};
  }
  if (asked.value == Switch::off) return {std::nullopt, asked.origin, asked.reason()};
  if (!obstacle.empty()) return {std::nullopt, Origin::rule, "auto: " + obstacle};
  if (mean_box_bytes(given) * static_cast<double>(given.problem.batch) >= smallest_box_without_graph)
    return {std::nullopt, Origin::rule, "auto: the GPU takes longer than the host that starts its work"};
  // Arrays that never come again are not worth a graph.
  return {1, Origin::rule, "auto: small boxes; recorded once the same arrays are given again"};
}

Chosen<int> choose_threads(const Given& given) {
  const Wish<Index>& wish = given.wishes.threads;
  const Index threads = wish.value;
  if (threads < 1 || threads > 1024)
    throw Error("plan: option threads", std::to_string(threads), "1 to 1024 threads per rank");
  if (threads == 1) return {1, wish.origin};
  if (given.on_device())
    throw Error("plan: option threads", std::to_string(threads) + " with arrays in memory of a GPU",
                "1: the host does not compute");
  const Setting& setting = given.setting;
  std::map<int, int> ranks_of;  // by machine
  for (const int node : setting.nodes) ++ranks_of[node];
  for (std::size_t r = 0; r < setting.nodes.size(); ++r) {
    const int ranks = ranks_of[setting.nodes[r]];
    const int hardware = setting.hardware_threads[setting.hardware_threads.size() == 1 ? 0 : r];
    if (threads * ranks > hardware)
      return {static_cast<int>(threads), wish.origin,
              "over-subscribed: " + std::to_string(ranks) + " ranks of " + std::to_string(threads) +
                  " threads on a machine that has " + std::to_string(hardware)};
  }
  return {static_cast<int>(threads), wish.origin};
}

}  // namespace weft
