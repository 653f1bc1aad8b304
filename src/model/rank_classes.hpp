// Ranks that do the same: with equal boxes before and after every stage, at the same place among as many
// ranks of their machine, and in exchanges that go in rounds with the same rounds. One of each class is
// enough to predict a transform on very many ranks.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace weft {

/// Ranks that hold each other up in rounds are replayed one by one, if they send no more parts than this,
/// which takes a second or two.
inline constexpr Index most_parts_in_rounds = Index{1} << 17;

/// For every rank, the first one that is like it. `in_rounds`: the reshapes whose exchanges go in rounds, by
/// their numbers. Where that would be more parts, ranks are alike whatever their rounds: those that stand for
/// others then miss that they hold each other up.
std::vector<int> like_ranks(const Schedule& schedule, const std::vector<int>& nodes,
                            const std::vector<int>& in_rounds = {});

/// The rank with the most points to work on, for every rank: what it does is how long a balanced transform
/// takes, at the cost of one rank. Coarser than classes: no rank waits for another that is slower,
/// or that is late in a round.
std::vector<int> like_the_busiest(const Schedule& schedule);

}  // namespace weft
