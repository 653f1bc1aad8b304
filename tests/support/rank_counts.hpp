// On how many ranks tests of many problems run.
#pragma once

#include <algorithm>
#include <vector>

namespace weft::test {

/// The given numbers, the largest one last. ThreadSanitizer, which is ten times as slow and looks at what
/// ranks do to each other, gets the largest alone; AddressSanitizer the first and the largest.
inline std::vector<int> rank_counts(std::vector<int> all) {
#if defined(WEFT_SANITIZES_THREADS)
  all.erase(all.begin(), all.end() - 1);
#elif defined(WEFT_SANITIZES_ADDRESSES)
  if (all.size() > 2) all.erase(all.begin() + 1, all.end() - 1);
#endif
  return all;
}

/// All numbers from `least` to `most`, but no more than there are devices, with the same choice.
inline std::vector<int> rank_counts(int least, int most, int devices) {
  std::vector<int> all;
  for (int ranks = least; ranks <= std::min(most, devices); ++ranks) all.push_back(ranks);
  return rank_counts(all);
}

}  // namespace weft::test
