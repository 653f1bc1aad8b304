// Counts all ways in which the process can get memory from the C library. For programs that link
// allocations.cpp, which takes the place of the library's functions.
#pragma once

namespace weft::test {

void begin_counting();
/// What has been counted since.
long end_counting();

/// What the calling thread does is not counted while it stands aside; nests.
void stand_aside(bool aside);

}  // namespace weft::test
