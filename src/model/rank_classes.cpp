#include "model/rank_classes.hpp"

#include <map>

#include "base/arithmetic.hpp"

namespace weft {

std::vector<int> like_ranks(const Schedule& schedule, const std::vector<int>& nodes) {
  std::map<int, int> ranks_of;
  for (const int node : nodes) ++ranks_of[node];
  std::map<int, Index> place_on;  // of the next rank of a machine among its ranks
  std::map<std::vector<Index>, int> first;
  std::vector<int> like;
  like.reserve(nodes.size());
  for (int r = 0; r < static_cast<int>(nodes.size()); ++r) {
    std::vector<Index> key{ranks_of[at(nodes, r)], place_on[at(nodes, r)]++};
    for (const Field& field : schedule.fields)
      for (const Index n : field.box(r).extents()) key.push_back(n);
    like.push_back(first.try_emplace(std::move(key), r).first->second);
  }
  return like;
}

std::vector<int> like_the_busiest(const Schedule& schedule) {
  int busiest = 0;
  Index most = -1;
  for (int r = 0; r < schedule.ranks; ++r) {
    Index points = 0;
    for (const Field& field : schedule.fields) points += field.box(r).count();
    if (points > most) {
      most = points;
      busiest = r;
    }
  }
  return std::vector<int>(static_cast<std::size_t>(schedule.ranks), busiest);
}

}  // namespace weft
