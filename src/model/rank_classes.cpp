#include "model/rank_classes.hpp"

#include <map>

#include "base/arithmetic.hpp"

namespace weft {

namespace {

/// Per rank, how many places after it a rank is in its exchange group, and how many members that has.
struct PlacesInGroups {
  std::vector<int> place, members;
  explicit PlacesInGroups(const std::vector<int>& groups) : members(groups.size(), 0) {
    for (const int group : groups) place.push_back(at(members, group)++);
    for (std::size_t r = 0; r < groups.size(); ++r) members[r] = at(members, groups[r]);
  }
  int distance(int from, int to) const {
    const int count = at(members, from);
    return (at(place, to) - at(place, from) + count) % count;
  }
};

/// Adds for every rank what it sends and receives in each round of a reshape: members of the group, and for
/// each part its round and its points. Returns how many parts these are; beyond `most` it stops.
Index add_rounds(const Schedule& schedule, int reshape, Index most, std::vector<std::vector<Index>>& keys) {
  const PlacesInGroups places(exchange_groups(schedule, reshape));
  const int stage = at(reshape_stages(schedule), reshape);
  const Field &before = at(schedule.fields, stage), &after = at(schedule.fields, stage + 1);
  Index parts = 0;
  for (int r = 0; r < schedule.ranks && parts <= most; ++r) {
    std::vector<Index>& key = at(keys, r);
    key.push_back(at(places.members, r));
    const auto add = [&](const std::vector<Overlap>& overlaps, bool sends) {
      std::map<int, Index> points;
      for (const Overlap& o : overlaps)
        if (o.rank != r)
          points[sends ? places.distance(r, o.rank) : places.distance(o.rank, r)] += o.box.count();
      key.push_back(static_cast<Index>(points.size()));
      for (const auto& [round, count] : points) key.insert(key.end(), {round, count});
      parts += static_cast<Index>(points.size());
    };
    add(after.tiling->overlaps(before.box(r)), true);
    add(before.tiling->overlaps(after.box(r)), false);
  }
  return parts;
}

/// Empty keys where there is too much to compare.
std::vector<std::vector<Index>> rounds_of_ranks(const Schedule& schedule, const std::vector<int>& in_rounds) {
  std::vector<std::vector<Index>> keys(static_cast<std::size_t>(schedule.ranks));
  Index most = 2 * most_compared_rounds;  // each part is sent and received
  for (const int reshape : in_rounds) {
    most -= add_rounds(schedule, reshape, most, keys);
    if (most < 0) return std::vector<std::vector<Index>>(keys.size());
  }
  return keys;
}

}  // namespace

std::vector<int> like_ranks(const Schedule& schedule, const std::vector<int>& nodes,
                            const std::vector<int>& in_rounds) {
  const std::vector<std::vector<Index>> rounds = rounds_of_ranks(schedule, in_rounds);
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
    key.insert(key.end(), at(rounds, r).begin(), at(rounds, r).end());
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
