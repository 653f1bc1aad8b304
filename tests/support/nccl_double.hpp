// A double of NCCL for thread ranks on the double of the device seam: what a group sends and receives is one
// job of its stream, which waits for the other ranks as NCCL's kernels do.
#pragma once

#include <atomic>
#include <cstddef>

#include "transport/nccl/library.hpp"

namespace weft::test {

const nccl::Functions& nccl_double();
/// Communicators that were made so far, of one rank each.
int nccl_double_made();
/// Pieces of memory that it has given and that are not freed, and registrations that there are.
std::size_t nccl_double_blocks();
std::size_t nccl_double_registered();

/// Sends and receives of this rank are errors, though its communicators are made; -1: of none.
extern std::atomic<int> nccl_double_failing_rank;

}  // namespace weft::test
