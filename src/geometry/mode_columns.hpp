// Modes that are given column by column (Distribution::columns): those of all ranks, and where they are in
// the ranks' arrays. Columns are numbered rank after rank.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/arithmetic.hpp"
#include "geometry/tiling.hpp"
#include "weft/problem.hpp"

namespace weft {

/// What a local transform has to do with modes that are given by columns: nothing; it goes between whole
/// planes and the modes of all columns in them, which axis 1 counts; or along axis 0, between whole lines and
/// the modes that each column has.
enum class ColumnsPart : std::uint8_t { none, planes, lines };

/// The index of a mode of an axis with n points by its number.
constexpr Index mode_index(Index number, Index n) {
  return (number % n + n) % n;
}

struct ModeColumns {
  std::vector<ModeColumn> all;    ///< along c2c axes from -n/2 to (n-1)/2
  std::vector<Index> first;       ///< per rank, the number of its first column; one past the last rank: all
  std::vector<Index> begin;       ///< per column, elements from the start of its rank's array
  std::vector<Index> first_mode;  ///< per rank, how many modes lower ranks have; one past the last: all
  friend bool operator==(const ModeColumns&, const ModeColumns&) = default;

  Index count() const { return static_cast<Index>(all.size()); }
  Index modes_of(int rank) const;
  /// The modes of a column on average, rounded up.
  Index mean() const { return divided_up(first_mode.back(), count()); }
  std::vector<ModeColumn> of_rank(int rank) const;
  /// The columns of all ranks as an array of so many columns along axis 1, whose axis 0 has `length` points
  /// and all other axes one.
  Tiling tiling(int axes, Index length) const;
};
using ModeColumnsPtr = std::shared_ptr<const ModeColumns>;

/// The columns that the ranks give. Throws `weft::Error` for numbers out of range, for two columns at the
/// same place, and if there is none.
ModeColumns make_columns(const Shape& shape, const AxisVector<Transform>& transforms,
                         const std::vector<std::vector<ModeColumn>>& of_ranks);

/// All columns of a sphere, for each rank (`Distribution::sphere`), whose radius is not negative.
std::vector<std::vector<ModeColumn>> sphere_columns(const Shape& shape,
                                                    const AxisVector<Transform>& transforms, double radius,
                                                    int ranks);

}  // namespace weft
