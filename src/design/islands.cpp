#include "design/islands.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace weft {

namespace {

/// "0-2,5".
std::string ranges(const std::vector<int>& ranks) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    parts.push_back(std::to_string(ranks[i]) + (last > i ? "-" + std::to_string(ranks[last]) : ""));
    i = last + 1;
  }
  return join(parts, ",");
}

}  // namespace

std::string Islands::to_string() const {
  constexpr std::size_t most_listed = 8;
  std::vector<std::vector<int>> all(of.size());
  for (std::size_t r = 0; r < of.size(); ++r) at(all, of[r]).push_back(static_cast<int>(r));
  std::erase_if(all, [](const std::vector<int>& ranks) { return ranks.empty(); });
  if (all.size() > most_listed) return std::to_string(all.size()) + " sets of ranks";
  std::vector<std::string> texts;
  for (const std::vector<int>& ranks : all) texts.push_back(ranges(ranks));
  return "ranks " + join(texts, " and ");
}

Islands islands_of(const std::vector<int>& nodes, const std::function<bool(int, int)>& mutual) {
  Islands islands;
  std::vector<std::vector<int>> members;
  for (int r = 0; r < static_cast<int>(nodes.size()); ++r) {
    const auto same_node = [&](int q) { return at(nodes, q) == at(nodes, r); };
    const auto open = [&](const std::vector<int>& ranks) {
      return same_node(ranks.front()) &&
             std::all_of(ranks.begin(), ranks.end(), [&](int q) { return mutual(q, r); });
    };
    auto mine = std::find_if(members.begin(), members.end(), open);
    if (mine == members.end()) mine = members.insert(mine, std::vector<int>{});
    mine->push_back(r);
    islands.of.push_back(mine->front());
    for (int q = 0; q < r && islands.apart[0] < 0; ++q)
      if (same_node(q) && !mutual(q, r)) islands.apart = {q, r};
  }
  return islands;
}

}  // namespace weft
