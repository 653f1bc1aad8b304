// The late maximum of MPI ranks: a non-blocking reduction on a communicator of its own.
#pragma once

#include <memory>

#include "comm/late_maximum.hpp"

namespace weft {

class MpiWorld;

/// Waits for the reduction that may be under way on a communicator of `MpiWorld::own_comm`, which cannot be
/// freed before. All ranks have given their numbers or are about to; a rank that has failed may not have, and
/// after some seconds this returns false.
bool complete_reduction(const void* comm);

/// Collective; `world` must outlive it. It may be destroyed, on each rank when it likes, while a reduction is
/// under way: that is completed at the latest when MPI ends.
std::unique_ptr<LateMaximum> make_late_maximum(MpiWorld& world);

}  // namespace weft
