// The operations of one execution on all ranks, on one clock: what `--trace` writes.
#pragma once

#include <string>
#include <vector>

#include "weft/comm.hpp"
#include "weft/timing.hpp"

namespace weft::bench {

/// What operations are called, in a fixed order, and the place of one of them in it.
const std::vector<std::string>& operation_kinds();
std::size_t number_of(const std::string& kind);

/// Per rank, the operations that it gives, which count by its own steady clock. Here they count from the
/// first of all, whichever rank did it. Collective.
std::vector<std::vector<OperationTime>> gather_timeline(const Comm& comm,
                                                        const std::vector<OperationTime>& mine);

}  // namespace weft::bench
