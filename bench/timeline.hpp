// The operations of one execution on all ranks, on one clock: what `--trace` writes.
#pragma once

#include <string>
#include <vector>

#include "exec/trace.hpp"
#include "weft/comm.hpp"

namespace weft::bench {

/// The kinds of operations in a fixed order, and the position of a kind in it.
const std::vector<std::string>& operation_kinds();
std::size_t number_of(const std::string& kind);

/// The operations of all ranks. Each rank gives times of its own steady clock; the result counts from the
/// start of the first operation of all ranks. Collective.
std::vector<std::vector<TracedOperation>> gather_timeline(const Comm& comm,
                                                          const std::vector<TracedOperation>& mine);

}  // namespace weft::bench
