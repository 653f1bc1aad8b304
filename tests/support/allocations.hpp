// Counts all ways in which the process can get memory from the C library. For programs that link
// allocations.cpp, which takes the place of the library's functions.
#pragma once

#include "weft/comm.hpp"

namespace weft::test {

void begin_counting();
/// What has been counted since.
long end_counting();

/// What the calling thread does is not counted while it stands aside; nests.
void stand_aside(bool aside);

/// What the process gets from the C library while all ranks call `work` three times, after a first time that
/// is not counted; on rank 0, and nothing on others. Collective.
template <class Work>
long allocations_of(const Comm& comm, const Work& work) {
  work();
  comm.barrier();
  if (comm.rank() == 0) begin_counting();
  comm.barrier();
  for (int i = 0; i < 3; ++i) work();
  comm.barrier();
  const long counted = comm.rank() == 0 ? end_counting() : 0;
  comm.barrier();
  return counted;
}

}  // namespace weft::test
