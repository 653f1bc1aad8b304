#include "transport/ring_order.hpp"

#include <algorithm>
#include <cstddef>

namespace weft {

std::vector<int> ring_order(const std::vector<int>& nodes, int rank) {
  std::vector<int> known;                 // machines, as they come
  std::vector<std::vector<int>> members;  // of each
  std::size_t own = 0, place = 0;         // of this rank: its machine, and where it is there
  for (std::size_t r = 0; r < nodes.size(); ++r) {
    const auto node =
        static_cast<std::size_t>(std::find(known.begin(), known.end(), nodes[r]) - known.begin());
    if (node == known.size()) {
      known.push_back(nodes[r]);
      members.emplace_back();
    }
    if (static_cast<int>(r) == rank) {
      own = node;
      place = members[node].size();
    }
    members[node].push_back(static_cast<int>(r));
  }
  std::vector<int> order;
  const auto visit = [&](const std::vector<int>& ranks, std::size_t first, std::size_t count) {
    for (std::size_t t = 0; t < count; ++t) order.push_back(ranks[(first + t) % ranks.size()]);
  };
  const std::size_t others = known.size() - 1;
  for (std::size_t round = 0; round < others; ++round) {
    const std::vector<int>& ranks = members[(own + 1 + (round + place) % others) % known.size()];
    visit(ranks, place, ranks.size());
  }
  visit(members[own], place + 1, members[own].size() - 1);
  return order;
}

}  // namespace weft
