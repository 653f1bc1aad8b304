// Counts calls of C++'s operator new, or refuses them; not what C libraries such as MPI allocate. For
// programs that compile new_counter.cpp, which takes the place of the operators.
#pragma once

namespace weft::test {

void begin_counting_news();
/// What has been counted since.
long end_counting_news();

/// After so many calls the calling thread gets no memory: once, or from then on.
void begin_refusing_news(long after, bool once);
/// How often it has got none since. From here on it gets memory again.
long end_refusing_news();

}  // namespace weft::test
