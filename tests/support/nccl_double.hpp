// A double of NCCL for thread ranks on the double of the device seam: what a group sends and receives is one
// job of its stream, which waits for the other ranks as NCCL's kernels do.
#pragma once

#include "transport/nccl/library.hpp"

namespace weft::test {

const nccl::Functions& nccl_double();
/// Communicators that were made so far, of one rank each.
int nccl_double_made();

/// Sends and receives of one rank are errors for the lifetime of this; its communicators are made.
class ScopedNcclFailure {
 public:
  explicit ScopedNcclFailure(int rank);
  ~ScopedNcclFailure();
  ScopedNcclFailure(const ScopedNcclFailure&) = delete;
  ScopedNcclFailure& operator=(const ScopedNcclFailure&) = delete;
};

}  // namespace weft::test
