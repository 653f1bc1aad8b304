// Ranks that do the same: with equal boxes before and after every stage, at the same place among as
// many ranks of their machine. One of
// each class is enough to predict a transform on very many ranks.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace weft {

/// For every rank, the first one that is like it.
std::vector<int> like_ranks(const Schedule& schedule, const std::vector<int>& nodes);

/// The rank with the most points to work on, for every rank: what it does is how long a balanced transform
/// takes, at the cost of one rank. Coarser than classes: no rank waits for another that is slower.
std::vector<int> like_the_busiest(const Schedule& schedule);

}  // namespace weft
