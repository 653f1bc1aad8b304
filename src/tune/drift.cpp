#include "tune/drift.hpp"

#include <algorithm>
#include <cstddef>

namespace weft {

namespace {

constexpr int enough = 3;
constexpr int narrowest = 8, widest = 256;

}  // namespace

void Drift::expect(int way, double seconds) {
  ways_[static_cast<std::size_t>(way)].expected = seconds;
}

bool Drift::begin(int way) {
  return --ways_[static_cast<std::size_t>(way)].until <= 0;
}

bool Drift::executed(int way, double seconds) {
  Way& w = ways_[static_cast<std::size_t>(way)];
  if (seconds <= 0) {
    w.until = std::min(w.spacing, narrowest);
    return false;
  }
  if (w.expected <= 0) w.expected = seconds;
  const bool longer = seconds > factor_ * w.expected, shorter = factor_ * seconds < w.expected;
  w.longer = longer ? w.longer + 1 : 0;
  w.largest = shorter ? std::max(w.shorter > 0 ? w.largest : 0, seconds) : 0;
  w.shorter = shorter ? w.shorter + 1 : 0;
  if (w.longer == enough) {
    w = {};
    return true;
  }
  if (w.shorter == enough) {
    w.expected = w.largest;
    w.shorter = 0;
  } else if (longer || shorter) {
    w.until = 1;  // the next one again
    return false;
  }
  w.spacing = std::min(widest, 2 * w.spacing);
  w.until = w.spacing;
  return false;
}

}  // namespace weft
