// The late maximum of MPI ranks: a non-blocking reduction on a communicator of its own.
#pragma once

#include <memory>

#include "comm/late_maximum.hpp"

namespace weft {

class MpiWorld;

/// Collective; `world` must outlive it. It may be destroyed, on each rank when it likes, while a reduction is
/// under way: that is completed at the latest when MPI ends.
std::unique_ptr<LateMaximum> make_late_maximum(MpiWorld& world);

}  // namespace weft
