// What ranks tell each other, while planning, of where parts lie in their workspaces.
#pragma once

#include <mpi.h>

#include <map>
#include <vector>

#include "comm/mpi_world.hpp"

namespace weft {

using OffsetsByRank = std::map<int, std::vector<MPI_Aint>>;

/// Sends each rank what it is told, and receives what it tells this one: `heard` has room for as many as
/// there are. Ranks that tell each other something call it together.
void tell_offsets(const MpiWorld& world, int tag, const OffsetsByRank& told, OffsetsByRank& heard);

}  // namespace weft
