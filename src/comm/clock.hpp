// The clocks of the ranks' machines, compared.
#pragma once

#include "comm/comm_impl.hpp"

namespace weft {

/// How far the clock of this rank's machine (`seconds_now`) is ahead of that of rank 0's, by when their first
/// ranks leave a barrier; 0 on the machine of rank 0. The error is what leaving a barrier takes:
/// microseconds. Collective.
double clock_ahead(CommImpl& comm);

}  // namespace weft
