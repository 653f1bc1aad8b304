#include "base/numa/map.hpp"

#include <algorithm>
#include <fstream>

#include "base/environment.hpp"

namespace weft::numa {

std::atomic<const Map*> detail::pretended_machine{nullptr};

namespace {

constexpr int within = 10, between = 20;

/// Asks the system, which is quicker than hwloc: "0" is one node with processors, "0-1" or "0,8" are two.
bool is_divided() {
  std::ifstream file("/sys/devices/system/node/has_cpu");
  std::string numbers;
  std::getline(file, numbers);
  return numbers.find_first_of("-,") != std::string::npos;
}

bool is_switched_off() {
  return environment_value("WEFT_NUMA") == "off";
}

const Found& found_here() {
  static const Found found = is_divided() ? look_up() : Found{};
  return found;
}

/// Of a node among the nodes of a map; -1 if it is none of them.
int position_of(const Map& map, int number) {
  const auto found = std::find_if(map.nodes.begin(), map.nodes.end(),
                                  [&](const Node& node) { return node.number == number; });
  return found == map.nodes.end() ? -1 : static_cast<int>(found - map.nodes.begin());
}

}  // namespace

int Map::node_of(const std::string& device) const {
  const auto found = devices.find(device);
  return has_several() && found != devices.end() ? found->second : unknown;
}

int Map::node_of(const Processors& processors) const {
  if (!has_several() || processors.empty()) return unknown;
  for (const Node& node : nodes)
    if (std::includes(node.processors.begin(), node.processors.end(), processors.begin(), processors.end()))
      return node.number;
  return unknown;
}

int Map::distance(int from, int to) const {
  const int a = position_of(*this, from), b = position_of(*this, to);
  if (!has_several() || a < 0) return 0;
  if (distances.empty()) return a == b ? within : between;
  const std::vector<int>& row = distances[static_cast<std::size_t>(a)];
  return b < 0 ? *std::max_element(row.begin(), row.end()) : row[static_cast<std::size_t>(b)];
}

Processors Map::near(const std::vector<std::string>& names, const Processors& allowed) const {
  Processors all;
  for (const Node& node : nodes) {
    const bool wanted = std::any_of(names.begin(), names.end(),
                                    [&](const std::string& name) { return node_of(name) == node.number; });
    for (const int p : allowed)
      if (wanted && std::binary_search(node.processors.begin(), node.processors.end(), p)) all.push_back(p);
  }
  std::sort(all.begin(), all.end());
  return all;
}

const Map& of_machine() {
  static const Map none;
  if (is_switched_off()) return none;
  if (const Map* map = detail::pretended_machine) return *map;
  return found_here().map;
}

std::string description() {
  if (is_switched_off()) return "not told apart: WEFT_NUMA is off";
  const Map& map = of_machine();
  if (map.has_several()) return std::to_string(map.nodes.size()) + " NUMA nodes";
  const std::string& missing = found_here().missing;
  return missing.empty() ? "one NUMA node" : "not told apart: " + missing;
}

}  // namespace weft::numa
