#include "geometry/mode_columns.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "base/arithmetic.hpp"
#include "base/text.hpp"

namespace weft {

namespace {

constexpr const char* operation = "plan: columns";

std::string to_string(const ModeColumn& c) {
  return "{" + join(c.first, ",") + "} and " + std::to_string(c.count) + " modes";
}

/// The numbers of an axis: from `lo` to `hi`, both included.
struct Numbers {
  Index lo, hi;
};
Numbers numbers_of(Transform t, Index n) {
  return t == Transform::r2c ? Numbers{0, n / 2} : Numbers{-(n / 2), (n - 1) / 2};
}

/// The same column in numbers from -n/2 to (n-1)/2 along c2c axes.
ModeColumn checked(const Shape& shape, const AxisVector<Transform>& transforms, ModeColumn c, int rank) {
  if (c.first.size() != shape.size())
    throw Error(operation, std::to_string(c.first.size()) + " numbers of a mode",
                "one per axis, " + std::to_string(shape.size()), rank);
  if (c.count < 1 || c.count > shape[0])
    throw Error(operation, to_string(c), "1 to " + std::to_string(shape[0]) + " modes", rank);
  for (int a = 0; a < shape.size(); ++a) {
    const Index n = shape[a];
    const bool half = transforms[a] == Transform::r2c;
    const Index lo = half ? 0 : -(n / 2), hi = half ? n / 2 : n - 1;
    if (c.first[a] < lo || c.first[a] > hi)
      throw Error(operation, to_string(c),
                  "numbers from " + std::to_string(lo) + " to " + std::to_string(hi) + " along axis " +
                      std::to_string(a),
                  rank);
    if (!half && c.first[a] > (n - 1) / 2) c.first[a] -= n;
  }
  return c;
}

/// The largest k with sqrt(squares + k^2) <= radius, -1 if there is none. As the square root is rounded, and
/// the square of a radius such as sqrt(3) need not be 3.
Index largest_within(double radius, Index squares) {
  const auto inside = [&](Index k) { return std::sqrt(static_cast<double>(squares + k * k)) <= radius; };
  auto k = static_cast<Index>(std::sqrt(std::max(0.0, radius * radius - static_cast<double>(squares))));
  while (inside(k + 1)) ++k;
  while (k >= 0 && !inside(k)) --k;
  return k;
}

}  // namespace

Index ModeColumns::modes_of(int rank) const {
  return at(first_mode, rank + 1) - at(first_mode, rank);
}

std::vector<ModeColumn> ModeColumns::of_rank(int rank) const {
  return {all.begin() + at(first, rank), all.begin() + at(first, rank + 1)};
}

Tiling ModeColumns::tiling(int axes, Index length) const {
  Shape shape(axes, 1);
  shape[0] = length;
  shape[1] = count();
  std::vector<Box> boxes;
  for (std::size_t r = 0; r + 1 < first.size(); ++r) {
    Box box = Box::whole(shape);
    box.lo[1] = first[r];
    box.hi[1] = first[r + 1];
    boxes.push_back(box.empty() ? Box{Shape(axes, 0), Shape(axes, 0)} : box);
  }
  return Tiling::from_boxes(shape, std::move(boxes));
}

ModeColumns make_columns(const Shape& shape, const AxisVector<Transform>& transforms,
                         const std::vector<std::vector<ModeColumn>>& of_ranks) {
  ModeColumns m;
  m.first.push_back(0);
  m.first_mode.push_back(0);
  std::map<std::vector<Index>, int> places;  // and whose column is there
  for (std::size_t r = 0; r < of_ranks.size(); ++r) {
    const int rank = static_cast<int>(r);
    Index modes = 0;
    for (const ModeColumn& given : of_ranks[r]) {
      const ModeColumn c = checked(shape, transforms, given, rank);
      const auto [other, is_new] = places.try_emplace({c.first.begin() + 1, c.first.end()}, rank);
      if (!is_new)
        throw Error(operation,
                    to_string(c) + ", where rank " + std::to_string(other->second) + " has a column",
                    "one column for the same numbers along the axes behind the first", rank);
      m.begin.push_back(modes);
      modes += c.count;
      m.all.push_back(c);
    }
    m.first.push_back(m.count());
    m.first_mode.push_back(m.first_mode.back() + modes);
  }
  if (m.all.empty()) throw Error(operation, "no column on any rank", "one at least");
  return m;
}

std::vector<std::vector<ModeColumn>> sphere_columns(const Shape& shape,
                                                    const AxisVector<Transform>& transforms, double radius,
                                                    int ranks) {
  radius = std::min(radius, static_cast<double>(std::accumulate(shape.begin(), shape.end(), Index{0})));
  std::vector<ModeColumn> all;
  AxisVector<Numbers> numbers;
  Shape first;
  for (int a = 0; a < shape.size(); ++a) {
    numbers.push_back(numbers_of(transforms[a], shape[a]));
    const auto most = static_cast<Index>(std::min(radius, static_cast<double>(shape[a])));
    numbers[a].lo = std::max(numbers[a].lo, -most);
    numbers[a].hi = std::min(numbers[a].hi, most);
    first.push_back(numbers[a].lo);
  }
  for (int a = shape.size() - 1; a > 0;) {
    Index squares = 0;
    for (int b = 1; b < shape.size(); ++b) squares += first[b] * first[b];
    if (const Index most = largest_within(radius, squares); most >= 0) {
      const Index lo = std::max(numbers[0].lo, -most), hi = std::min(numbers[0].hi, most);
      ModeColumn c{first, hi - lo + 1};
      c.first[0] = lo;
      all.push_back(c);
    }
    for (a = shape.size() - 1; a > 0; --a) {  // the next place
      if (++first[a] <= numbers[a].hi) break;
      first[a] = numbers[a].lo;
    }
  }
  std::vector<std::size_t> longest(all.size());
  std::iota(longest.begin(), longest.end(), 0);
  std::ranges::stable_sort(longest, [&](auto a, auto b) { return all[a].count > all[b].count; });
  std::vector<std::pair<Index, int>> least;  // a heap of how many modes which rank has, fewest first
  for (int r = 0; r < ranks; ++r) least.emplace_back(0, r);
  std::vector<int> owner(all.size());
  for (const std::size_t c : longest) {
    std::ranges::pop_heap(least, std::greater{});
    owner[c] = least.back().second;
    least.back().first += all[c].count;
    std::ranges::push_heap(least, std::greater{});
  }
  std::vector<std::vector<ModeColumn>> of_ranks(static_cast<std::size_t>(ranks));
  for (std::size_t c = 0; c < all.size(); ++c) at(of_ranks, owner[c]).push_back(all[c]);
  return of_ranks;
}

}  // namespace weft
