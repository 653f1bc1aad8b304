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

/// What makes ranks unlike in their rounds: of each reshape the members of the group and, for every part that
/// is sent or received, its round and its points.
struct RoundsOfRanks {
  std::vector<std::vector<Index>> keys;  ///< per rank
  std::vector<Index> sent;               ///< per rank, parts
};

void add_rounds(const Schedule& schedule, int reshape, RoundsOfRanks& rounds) {
  const PlacesInGroups places(exchange_groups(schedule, reshape));
  const int stage = at(reshape_stages(schedule), reshape);
  const Field &before = at(schedule.fields, stage), &after = at(schedule.fields, stage + 1);
  for (int r = 0; r < schedule.ranks; ++r) {
    std::vector<Index>& key = at(rounds.keys, r);
    const auto add = [&](const std::vector<Overlap>& overlaps, bool sends) {
      std::map<int, Index> points;
      for (const Overlap& o : overlaps)
        if (o.rank != r)
          points[sends ? places.distance(r, o.rank) : places.distance(o.rank, r)] += o.box.count();
      key.push_back(static_cast<Index>(points.size()));
      for (const auto& [round, count] : points) key.insert(key.end(), {round, count});
      if (sends) at(rounds.sent, r) += static_cast<Index>(points.size());
    };
    key.push_back(at(places.members, r));
    add(after.tiling->overlaps(before.box(r)), true);
    add(before.tiling->overlaps(after.box(r)), false);
  }
}

/// Whether there are so few that all ranks can be looked at.
bool can_compare(const Schedule& schedule, const std::vector<int>& in_rounds) {
  constexpr Index most = 8 * most_parts_in_rounds;
  Index parts = 0;
  for (const int reshape : in_rounds) {
    const int stage = at(reshape_stages(schedule), reshape);
    const Tiling &before = *at(schedule.fields, stage).tiling,
                 &after = *at(schedule.fields, stage + 1).tiling;
    for (int r = 0; r < schedule.ranks && parts <= most; ++r)
      parts += static_cast<Index>(after.overlaps(before.box(r)).size());
  }
  return parts <= most;
}

std::vector<int> alike(const Schedule& schedule, const std::vector<int>& nodes, const RoundsOfRanks* rounds) {
  std::map<int, Index> ranks_of;
  for (const int node : nodes) ++ranks_of[node];
  std::map<int, Index> place_on;  // of the next rank of a machine among its ranks
  std::map<std::vector<Index>, int> first;
  std::vector<int> like;
  like.reserve(nodes.size());
  for (int r = 0; r < static_cast<int>(nodes.size()); ++r) {
    std::vector<Index> key{ranks_of[at(nodes, r)], place_on[at(nodes, r)]++};
    for (const Field& field : schedule.fields)
      for (const Index n : field.box(r).extents()) key.push_back(n);
    if (rounds != nullptr) key.insert(key.end(), at(rounds->keys, r).begin(), at(rounds->keys, r).end());
    like.push_back(first.try_emplace(std::move(key), r).first->second);
  }
  return like;
}

}  // namespace

std::vector<int> like_ranks(const Schedule& schedule, const std::vector<int>& nodes,
                            const std::vector<int>& in_rounds) {
  if (in_rounds.empty() || !can_compare(schedule, in_rounds)) return alike(schedule, nodes, nullptr);
  RoundsOfRanks rounds{std::vector<std::vector<Index>>(nodes.size()), std::vector<Index>(nodes.size())};
  for (const int reshape : in_rounds) add_rounds(schedule, reshape, rounds);
  std::vector<int> like = alike(schedule, nodes, &rounds);
  Index replayed = 0;
  for (int r = 0; r < schedule.ranks; ++r)
    if (at(like, r) == r) replayed += at(rounds.sent, r);
  return replayed <= most_parts_in_rounds ? like : alike(schedule, nodes, nullptr);
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
