#include "model/recent_memory.hpp"

#include <algorithm>

namespace weft {

namespace {

/// Points of both boxes. Most boxes have none, which this says sooner than `intersect`.
Index common_points(const Box& a, const Box& b) {
  Index points = 1;
  for (int i = 0; i < a.lo.size(); ++i) {
    const Index length = std::min(a.hi[i], b.hi[i]) - std::max(a.lo[i], b.lo[i]);
    if (length <= 0) return 0;
    points *= length;
  }
  return points;
}

void surround(Box& around, const Box& box) {
  for (int i = 0; i < box.lo.size(); ++i) {
    around.lo[i] = std::min(around.lo[i], box.lo[i]);
    around.hi[i] = std::max(around.hi[i], box.hi[i]);
  }
}

/// The largest power of two that divides n.
std::size_t power_in(std::size_t n) {
  return n & (~n + 1);
}

}  // namespace

double RecentMemory::distance(Space space, const Box& box, double far) const {
  if (space == Space::scratch) return 0;
  const Index half = (box.count() + 1) / 2;
  const std::vector<Touched>& all = touched_[static_cast<std::size_t>(space)];
  for (std::size_t n = all.size(); n > 0;) {
    const Touched& t = all[n - 1];
    if (gone(t)) break;
    if (common_points(t.around, box) < half) {
      n -= power_in(n);
    } else if (common_points(t.box, box) < half) {
      --n;
    } else {
      return std::min(gone_through_ - t.before, far);
    }
  }
  return far;
}

void RecentMemory::touch(Space space, const Box& box, double bytes) {
  std::vector<Touched>& all = touched_[static_cast<std::size_t>(space)];
  const auto know_around = [&](std::size_t n) {
    Touched& last = all[n - 1];
    last.around = last.box;
    for (std::size_t back = 1; back < power_in(n); back *= 2) surround(last.around, all[n - 1 - back].around);
  };
  all.push_back({box, box, gone_through_, gone_through_ + bytes});
  gone_through_ += bytes;
  know_around(all.size());
  if (!gone(all[all.size() / 2])) return;
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
  for (std::size_t n = 1; n <= all.size(); ++n) know_around(n);
}

}  // namespace weft
