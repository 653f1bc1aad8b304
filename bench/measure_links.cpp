#include <algorithm>

#include "by_some.hpp"
#include "clock.hpp"
#include "exchange_alone.hpp"
#include "measure_machine.hpp"

namespace weft::bench {

namespace {

/// Short ones are tried more often: where ranks share cores, few of them are undisturbed.
constexpr int long_tries = 9, short_tries = 100;
constexpr Index smallest = 64, largest = 4 << 20;
/// Between machines: parts of more are not sent in messages that MPI sends at once.
constexpr Index largest_far = 1 << 20;
/// Of the array of a rank.
constexpr Index most_bytes_of_rank = 128 << 20;

/// Of an exchange in which every rank gives every other one a part of so many bytes.
ExchangeTime time_of(const Comm& comm, const char* exchange, Index part_bytes) {
  Plan plan = exchange_alone(comm, static_cast<std::size_t>(part_bytes * comm.size()), false, exchange);
  return exchange_time(comm, plan, nullptr, part_bytes == smallest ? short_tries : long_tries);
}

/// Messages among ranks that are all on one machine, or all on different ones. What the processor of the
/// receiver does within a machine is the transfer itself.
LinkDescription messages(const Comm& comm, bool network) {
  LinkDescription link;
  link.between = network ? "network" : "node";
  link.carries = "messages";
  const bool threads = comm.impl().threads() != nullptr;
  const char* const exchange = threads ? "copy" : "p2p";
  const int peers = comm.size() - 1;
  const ExchangeTime least = time_of(comm, exchange, smallest);
  link.part_s = least.starting_s / peers;
  link.latency_s = std::max(least.slowest_s - least.starting_s, 1e-9);
  link.busy_share = network ? 0 : 1;
  std::vector<CurvePoint> points;
  std::vector<double> bytes, seconds;
  for (Index part = 4 << 10; part <= (network ? largest_far : largest) &&
                             (part <= (64 << 10) || part * comm.size() <= most_bytes_of_rank);
       part *= 4) {
    bytes.push_back(static_cast<double>(part * peers));
    seconds.push_back(std::max(time_of(comm, exchange, part).slowest_s - least.slowest_s, 1e-9));
    points.push_back({static_cast<double>(part), bytes.back() / seconds.back()});
  }
  link.bytes_per_s = Curve(points);
  if (!network) return link;
  // Of the two largest sizes: a link that has rested may carry some bytes at once, which are no bandwidth.
  const std::size_t last = bytes.size() - 1;
  const double speed = (bytes[last] - bytes[last - 1]) / std::max(seconds[last] - seconds[last - 1], 1e-9);
  const double burst = bytes[last] - speed * seconds[last];
  constexpr double most_burst = 1 << 20;
  link.bytes_per_s = Curve({{static_cast<double>(smallest), speed}});
  link.node_bytes_per_s = speed;
  link.burst_bytes = static_cast<Index>(std::clamp(burst, 0.0, most_burst));
  return link;
}

LinkDescription stores(const Comm& comm) {
  LinkDescription link;
  link.between = "node";
  link.carries = "stores";
  // Two flags follow each other: a tile is free, and it is full.
  link.flag_s = time_of(comm, "direct", smallest).slowest_s / (2.0 * std::max(1, comm.size() - 1));
  return link;
}

}  // namespace

std::vector<LinkDescription> measure_links(const Comm& comm) {
  const std::vector<int>& nodes = comm.impl().nodes();
  const int mine = nodes[static_cast<std::size_t>(comm.rank())];
  const bool first_of_node = std::find(nodes.begin(), nodes.end(), mine) - nodes.begin() == comm.rank();
  std::vector<LinkDescription> links;
  const Comm node = comm.split(mine);
  const Comm across = comm.split(first_of_node ? 0 : 1);
  by_some(comm, node.size() > 1, [&] {
    links.push_back(messages(node, false));
    links.push_back(stores(node));
  });
  by_some(comm, first_of_node && across.size() > 1, [&] { links.push_back(messages(across, true)); });
  return links;
}

}  // namespace weft::bench
