// On how many ranks tests of many problems run.
#pragma once

#include <vector>

namespace weft::test {

/// The given numbers, the largest one last. ThreadSanitizer, which is ten times as slow and looks at what
/// ranks do to each other, gets the largest alone.
inline std::vector<int> rank_counts(std::vector<int> all) {
#if defined(WEFT_SANITIZES_THREADS)
  all.erase(all.begin(), all.end() - 1);
#endif
  return all;
}

}  // namespace weft::test
