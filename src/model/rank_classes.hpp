// Ranks that do the same: with equal boxes before and after every stage, at the same place among as
// many ranks of their machine. One of
// each class is enough to predict a transform on very many ranks.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace weft {

/// For every rank, the first one that is like it.
std::vector<int> like_ranks(const Schedule& schedule, const std::vector<int>& nodes);

}  // namespace weft
