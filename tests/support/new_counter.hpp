// Counts calls of C++'s operator new, and not what C libraries such as MPI allocate. For programs that
// compile new_counter.cpp, which takes the place of the operators.
#pragma once

namespace weft::test {

void begin_counting_news();
/// What has been counted since.
long end_counting_news();

}  // namespace weft::test
