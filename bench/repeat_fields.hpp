// The operator between two transforms that the benchmark executes (Problem::between): it leaves the data as
// they are, so that what is timed are the transforms and the way of the data to an operator and back.
#pragma once

#include "weft/block.hpp"

namespace weft::bench {

/// Leaves the fields as they are. If there are to be more results than fields, the fields are repeated:
/// result r is field r modulo their number.
void repeat_fields(const Block& block);

}  // namespace weft::bench
