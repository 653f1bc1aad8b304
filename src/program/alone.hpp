// A local FFT that is too large for the cache, where nothing is exchanged.
#pragma once

#include <optional>

#include "program/builder.hpp"

namespace weft {

/// The program of a schedule without reshapes, of a rank that has the whole array or independent parts of it:
/// two passes over the data, the second one along the slowest axis, in sub-tiles. Nothing if a single call of
/// the FFT library is as good: for arrays that fit the cache, or a c2r.
std::optional<Program> build_alone(const Schedule& schedule, const ProgramRequest& request);

}  // namespace weft
