// Ranks that do the same: with equal boxes before and after every stage, at the same place among as many
// ranks of their machine, and in exchanges that go in rounds with the same rounds. One of each class is
// enough to predict a transform on very many ranks.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace weft {

/// Up to so many messages of all ranks, rounds are compared.
inline constexpr Index most_compared_rounds = Index{1} << 18;

/// For every rank, the first one that is like it. `in_rounds`: the reshapes whose exchanges go in rounds, by
/// their numbers. Where they have more messages than are compared, ranks are alike whatever their rounds:
/// then those that stand for others miss that they hold each other up.
std::vector<int> like_ranks(const Schedule& schedule, const std::vector<int>& nodes,
                            const std::vector<int>& in_rounds = {});

/// The rank with the most points to work on, for every rank: what it does is how long a balanced transform
/// takes, at the cost of one rank. Coarser than classes: no rank waits for another that is slower.
std::vector<int> like_the_busiest(const Schedule& schedule);

}  // namespace weft
