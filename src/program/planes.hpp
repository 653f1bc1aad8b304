// Makes the program of one rank for pipeline *planes* over a direct exchange: every stage passes over its
// data once, in sub-tiles that stay in the cache from the moment they are read to the moment they are stored
// in the workspace of their receiver, or in the user's array.
#pragma once

#include <optional>
#include <vector>

#include "program/builder.hpp"

namespace weft {

/// As `build_program`; all `choices` carry directly and have a `subtile`.
Program build_planes(const Schedule& schedule, const std::vector<ReshapeChoice>& choices,
                     const ProgramRequest& request);

/// The program of a schedule without reshapes, of a rank that has the whole array or independent parts of it:
/// two passes over the data, the second one along the slowest axis, in sub-tiles. Nothing if a single call of
/// the FFT library is as good: for arrays that fit the cache, or a c2r.
std::optional<Program> build_alone(const Schedule& schedule, const ProgramRequest& request);

/// The parts of `part` that a stage works on one after the other. Axes that it does not transform are cut,
/// from the slowest of `order` on, until a part takes no more than `bytes`; along the fastest of `order` no
/// thinner than a few cache lines.
std::vector<Box> sub_tiles(const Box& part, const Order& order, const AxisVector<int>& transformed,
                           int element_bytes, Index bytes);

}  // namespace weft
