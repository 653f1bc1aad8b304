#include "simgrid/fat_tree.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace weft::test {

namespace sg = simgrid::s4u;

int FatTree::machines() const {
  return static_cast<int>(std::accumulate(down.begin(), down.end(), 1u, std::multiplies<>()));
}

void choose_network_model() {
  const auto set = [](const char* setting) { sg::Engine::set_config(setting); };
  // Flows that share links: each gets as much as the fullest link on its route leaves it (max-min).
  set("network/model:CM02");
  // The default model, LV08, multiplies latencies by 13.01 and bandwidths by 0.97, which were fitted to TCP
  // on gigabit Ethernet. The described machine has the figures of its links, so that here they count as they
  // are.
  set("network/latency-factor:1");
  set("network/bandwidth-factor:1");
  // A flow's share of a full link is one over its latency, as among TCP connections. With more than 0 every
  // link of a route would add to that latency, the slower the more; all links here are alike, so that it
  // would change nothing.
  set("network/weight-S:0");
  // The largest window of TCP, in bytes: no flow is faster than this over twice its latency. The described
  // machine has no windows; 0 takes the bound away.
  set("network/TCP-gamma:0");
  // Answers would take 5% of a flow from the opposite direction. The described bandwidth is that of what is
  // sent, in both directions at once.
  set("network/crosstraffic:0");
}

std::vector<sg::Host*> plant(const FatTree& tree) {
  std::vector<sg::Host*> hosts;
  const auto machine = [&](sg::NetZone* zone, const std::vector<unsigned long>&, unsigned long) {
    hosts.push_back(zone->create_host(tree.name + "-" + std::to_string(hosts.size()), 1e9)->seal());
    return std::pair(hosts.back()->get_netpoint(), static_cast<simgrid::kernel::routing::NetPoint*>(nullptr));
  };
  const auto loopback = [&](sg::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
    return zone->create_link(tree.name + "-within-" + std::to_string(id), 1e15)
        ->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE)
        ->seal();
  };
  const std::vector<unsigned> links(tree.down.size(), 1);
  sg::NetZone* zone = sg::create_fatTree_zone(
      tree.name, nullptr, {static_cast<unsigned>(tree.down.size()), tree.down, tree.up, links},
      {machine, loopback, {}}, tree.bytes_per_s, tree.hop_s, sg::Link::SharingPolicy::SPLITDUPLEX);
  zone->seal();
  return hosts;
}

}  // namespace weft::test
