#include "exec/stream/graphs.hpp"

#include <algorithm>

namespace weft {

StreamGraphs::Execution* StreamGraphs::find(int turn, const Arrays& arrays) {
  auto& known = executions_[static_cast<std::size_t>(turn)];
  auto* found = std::find_if(known.begin(), known.end(),
                             [&](const Execution& e) { return e.seen > 0 && e.arrays == arrays; });
  if (found == known.end()) {
    found = std::min_element(known.begin(), known.end(),
                             [](const Execution& a, const Execution& b) { return a.used < b.used; });
    found->arrays = arrays;
    found->seen = 0;
    found->captured = false;
  }
  found->used = ++clock_;
  if (found->seen < plain_) {
    ++found->seen;
    return nullptr;
  }
  found->seen = plain_ + 1;
  return found;
}

}  // namespace weft
