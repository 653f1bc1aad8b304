#include <algorithm>
#include <string>

#include "base/warning.hpp"
#include "by_some.hpp"
#include "clock.hpp"
#include "exchange_alone.hpp"
#include "measure_machine.hpp"
#include "transport/transport.hpp"

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
ExchangeTime time_of(const Comm& comm, const ExchangedBy& by, Index part_bytes) {
  Plan plan = exchange_alone(comm, static_cast<std::size_t>(part_bytes * comm.size()), false, by);
  return exchange_time(comm, plan, nullptr, part_bytes == smallest ? short_tries : long_tries);
}

/// What a link carries.
struct Carried {
  double bytes_per_s;
  Index burst_bytes;
};

/// Of two measurements: a link that has rested may carry some bytes at once, which are no bandwidth.
Carried carried(double fewer_bytes, double fewer_s, double bytes, double seconds) {
  constexpr double most_burst = 1 << 20;
  const double speed = (bytes - fewer_bytes) / std::max(seconds - fewer_s, 1e-9);
  return {speed, static_cast<Index>(std::clamp(bytes - speed * seconds, 0.0, most_burst))};
}

/// Messages among ranks that are all on one machine, or all on different ones. Within a machine the processor
/// of the receiver does the transfer itself.
LinkDescription messages(const Comm& comm, bool network, const ExchangedBy& by) {
  LinkDescription link;
  link.between = network ? "network" : "node";
  link.carries = "messages";
  const int peers = comm.size() - 1;
  const ExchangeTime least = time_of(comm, by, smallest);
  link.part_s = least.starting_s / peers;
  link.latency_s = std::max(least.slowest_s - least.starting_s, 1e-9);
  link.busy_share = 1;
  std::vector<CurvePoint> points;
  std::vector<double> bytes, seconds;
  for (Index part = 4 << 10; part <= (network ? largest_far : largest) &&
                             (part <= (64 << 10) || part * comm.size() <= most_bytes_of_rank);
       part *= 4) {
    bytes.push_back(static_cast<double>(part * peers));
    seconds.push_back(std::max(time_of(comm, by, part).slowest_s - least.slowest_s, 1e-9));
    points.push_back({static_cast<double>(part), bytes.back() / seconds.back()});
  }
  link.bytes_per_s = Curve(points);
  if (!network) return link;
  const std::size_t last = bytes.size() - 1;
  const Carried largest_two = carried(bytes[last - 1], seconds[last - 1], bytes[last], seconds[last]);
  link.bytes_per_s = Curve({{static_cast<double>(smallest), largest_two.bytes_per_s}});
  link.node_bytes_per_s = largest_two.bytes_per_s;
  link.burst_bytes = largest_two.burst_bytes;
  const double of_rank = points.back().x * comm.size();
  Plan plan = exchange_alone(comm, static_cast<std::size_t>(of_rank), false, by);
  link.busy_share =
      std::min(1.0, seconds_lost(comm, plan, long_tries) / (bytes[last] / largest_two.bytes_per_s));
  return link;
}

/// Parts that follow each other, as those of plans that overlap: every rank sends planes, each of them as
/// soon as it is packed.
Carried streamed(const Comm& comm, ExchangedBy by) {
  constexpr Index part = 64 << 10, fewest = 6, most = 48;
  const Index planes = std::clamp(most_bytes_of_rank / (part * comm.size()), fewest, most);
  const auto bytes_of = [&](Index count) { return static_cast<double>(part * count * (comm.size() - 1)); };
  const auto seconds_of = [&](Index count) {
    by.planes = count;
    return time_of(comm, by, part * count).slowest_s;
  };
  const double some = seconds_of(planes / 3), all = seconds_of(planes);
  return carried(bytes_of(planes / 3), some, bytes_of(planes), all);
}

LinkDescription stores(const Comm& comm) {
  LinkDescription link;
  link.between = "node";
  link.carries = "stores";
  // Two flags follow each other: a tile is free, and it is full.
  link.flag_s = time_of(comm, {"direct"}, smallest).slowest_s / (2.0 * std::max(1, comm.size() - 1));
  return link;
}

/// The exchange on rails that works among these ranks; null if there is none.
const ExchangeRow* exchange_on_rails(const Comm& comm) {
  for (const ExchangeRow& row : exchange_table()) {
    if (!row.traits.on_rails || row.rails == nullptr || comm.impl().threads() != nullptr) continue;
    const bool missing = row.missing != nullptr && !row.missing(comm.impl()).empty();
    if (comm.impl().least(missing ? 0 : 1) == 1) return &row;
  }
  return nullptr;
}

/// How many networks it finds; 0, with a warning, if it fails with them.
int rails_found(const Comm& comm, const ExchangeRow& row) {
  try {
    row.prepare(comm.impl(), nullptr, {});
    return row.rails(comm.impl(), {});
  } catch (const Error& e) {  // on all ranks
    if (comm.rank() == 0) warn(std::string("rails are not described: ") + e.what());
    return 0;
  }
}

/// With one network, with two, and so on, all at once, as they may share what carries their messages. How
/// fast they are is what they do at best: some networks carry less of large parts that are sent at once than
/// of parts that follow each other, and on others packing holds up the latter.
std::vector<RailsDescription> rails(const Comm& comm) {
  constexpr int most_rails = 8;
  std::vector<RailsDescription> described;
  const ExchangeRow* const row = exchange_on_rails(comm);
  if (row == nullptr) return described;
  const int count = std::min(rails_found(comm, *row), most_rails);
  for (int n = 1; n <= count; ++n) {
    const ExchangedBy by{row->name, std::to_string(n)};
    const LinkDescription link = messages(comm, true, by);
    const Carried at_once{link.node_bytes_per_s, link.burst_bytes}, stream = streamed(comm, by);
    const Carried& best = stream.bytes_per_s > at_once.bytes_per_s ? stream : at_once;
    const double busy = std::min(1.0, link.busy_share * best.bytes_per_s / at_once.bytes_per_s);
    described.push_back({link.latency_s, link.part_s, best.bytes_per_s, best.burst_bytes, busy});
  }
  return described;
}

}  // namespace

std::vector<LinkDescription> measure_links(const Comm& comm) {
  const std::vector<int>& nodes = comm.impl().nodes();
  const int mine = nodes[static_cast<std::size_t>(comm.rank())];
  const bool first_of_node = std::find(nodes.begin(), nodes.end(), mine) - nodes.begin() == comm.rank();
  std::vector<LinkDescription> links;
  const Comm node = comm.split(mine);
  const Comm across = comm.split(first_of_node ? 0 : 1);
  const ExchangedBy by{comm.impl().threads() != nullptr ? "copy" : "p2p"};
  by_some(comm, node.size() > 1, [&] {
    links.push_back(messages(node, false, by));
    links.push_back(stores(node));
  });
  by_some(comm, first_of_node && across.size() > 1, [&] {
    links.push_back(messages(across, true, by));
    links.back().rails = rails(across);
  });
  return links;
}

}  // namespace weft::bench
