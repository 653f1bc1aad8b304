// One GPU per rank.
#pragma once

#include "weft/comm.hpp"

namespace weft::bench {

/// Makes a GPU that of the calling thread: among the ranks of a machine they are dealt out in turn.
/// Collective. Throws `weft::Error` on all ranks if one of them sees none.
void choose_device(const Comm& comm);

}  // namespace weft::bench
