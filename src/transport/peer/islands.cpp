#include "transport/peer/islands.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "comm/agree.hpp"

namespace weft {

namespace {

/// What every rank says of the ranks of its machine: a row each, by their position there.
class Reach {
 public:
  Reach(CommImpl& comm, const std::function<bool(int)>& reaches)
      : nodes_(comm.nodes()), position_(nodes_.size()) {
    std::vector<std::size_t> ranks_of(nodes_.size(), 0);
    for (std::size_t r = 0; r < nodes_.size(); ++r)
      position_[r] = ranks_of[static_cast<std::size_t>(nodes_[r])]++;
    width_ = *std::max_element(ranks_of.begin(), ranks_of.end());
    std::vector<unsigned char> mine(width_, 0);
    agree(comm, "plan", [&] {
      for (int r = 0; r < comm.size(); ++r)
        if (same_node(r, comm.rank()) && reaches(r)) mine[position_[static_cast<std::size_t>(r)]] = 1;
    });
    said_.resize(width_ * nodes_.size());
    comm.allgather(mine.data(), width_, said_.data());
  }

  bool same_node(int a, int b) const {
    return nodes_[static_cast<std::size_t>(a)] == nodes_[static_cast<std::size_t>(b)];
  }
  bool mutual(int a, int b) const { return a == b || (same_node(a, b) && says(a, b) && says(b, a)); }

 private:
  bool says(int a, int b) const {
    return said_[static_cast<std::size_t>(a) * width_ + position_[static_cast<std::size_t>(b)]] != 0;
  }

  const std::vector<int>& nodes_;
  std::vector<std::size_t> position_;
  std::size_t width_ = 0;
  std::vector<unsigned char> said_;
};

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

bool Islands::several() const {
  return std::any_of(of.begin(), of.end(), [&](int first) { return first != of.front(); });
}

bool Islands::any_pair() const {
  for (std::size_t r = 0; r < of.size(); ++r)
    if (of[r] != static_cast<int>(r)) return true;
  return false;
}

std::string Islands::to_string() const {
  constexpr std::size_t most_listed = 8;
  std::vector<std::vector<int>> all(of.size());
  for (std::size_t r = 0; r < of.size(); ++r)
    all[static_cast<std::size_t>(of[r])].push_back(static_cast<int>(r));
  std::erase_if(all, [](const std::vector<int>& ranks) { return ranks.empty(); });
  if (all.size() > most_listed) return std::to_string(all.size()) + " sets of ranks";
  std::vector<std::string> texts;
  for (const std::vector<int>& ranks : all) texts.push_back(ranges(ranks));
  return "ranks " + join(texts, " and ");
}

Islands find_islands(CommImpl& comm, const std::function<bool(int)>& reaches) {
  const Reach reach(comm, reaches);
  Islands islands;
  std::vector<std::vector<int>> members;
  for (int r = 0; r < comm.size(); ++r) {
    const auto open = [&](const std::vector<int>& ranks) {
      return std::all_of(ranks.begin(), ranks.end(), [&](int q) { return reach.mutual(r, q); });
    };
    auto mine = std::find_if(members.begin(), members.end(), open);
    if (mine == members.end()) mine = members.insert(mine, std::vector<int>{});
    mine->push_back(r);
    islands.of.push_back(mine->front());
    for (int q = 0; q < r && islands.apart[0] < 0; ++q)
      if (reach.same_node(q, r) && !reach.mutual(q, r)) islands.apart = {q, r};
  }
  return islands;
}

}  // namespace weft
