// What ranks tell each other, while planning, of where parts lie in their workspaces.
#pragma once

#include <mpi.h>

#include <map>
#include <vector>

#include "comm/mpi_world.hpp"

namespace weft {

using OffsetsByRank = std::map<int, std::vector<MPI_Aint>>;

/// Sends each rank what it is told, and returns what it tells this one: `heard` has as many of any value.
/// Collective; a rank on which it throws leaves the others.
OffsetsByRank tell_offsets(MpiWorld& world, int tag, OffsetsByRank told, OffsetsByRank heard);

}  // namespace weft
