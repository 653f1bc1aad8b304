#include "design/setting.hpp"

#include <algorithm>

namespace weft {

bool Setting::several_nodes() const {
  return std::any_of(nodes.begin(), nodes.end(), [&](int node) { return node != nodes.front(); });
}

bool Setting::any_share_memory() const {
  std::vector<int> sorted = nodes;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

}  // namespace weft
