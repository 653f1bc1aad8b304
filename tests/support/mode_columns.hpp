// Modes that are given by columns, drawn at random, and where they are in the whole array of modes.
#pragma once

#include <cstdint>
#include <vector>

#include "support/reference.hpp"

namespace weft::test {

/// The columns of all ranks.
using Columns = std::vector<std::vector<ModeColumn>>;

/// Some columns in any order on any ranks, numbered in either way. Of the mode 0 of an r2c axis, and of n/2,
/// there are all or none. `problem` has its transforms.
Columns random_columns(const Problem& problem, int ranks, std::uint64_t seed);

/// For each mode of some columns, one after the other, its position in the whole array in C order.
std::vector<std::size_t> positions_of(const Problem& problem, const std::vector<ModeColumn>& columns);

/// The modes that some column has; the others are zero.
std::vector<Exact> kept(const Problem& problem, const Columns& columns, const std::vector<Exact>& modes);

}  // namespace weft::test
