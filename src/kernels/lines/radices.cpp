#include "kernels/lines/radices.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/lines/tiles.hpp"

namespace weft {

namespace {

/// The radices that kernels have.
constexpr std::array radices{16, 15, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2};

/// Fewer stages are better, then smaller radices.
std::pair<std::size_t, int> cost(const std::vector<int>& stages) {
  int sum = 0;
  for (const int radix : stages) sum += radix;
  return {stages.size(), sum};
}

/// Tries all ways to divide n by radices of at most `most` that do not grow.
void divide(Index n, int most, std::vector<int>& stages, std::vector<int>& best) {
  if (n == 1) {
    if (stages.size() > 1 && (best.empty() || cost(stages) < cost(best))) best = stages;
    return;
  }
  for (const int radix : radices) {
    if (n % radix != 0 || radix > most) continue;
    stages.push_back(radix);
    divide(n / radix, radix, stages, best);
    stages.pop_back();
  }
}

/// The first stage waits for memory. Threads do more at a time there with more butterflies of fewer points,
/// but not of less than 8: from 1000 points on it took up to 1.2 times as long with the largest radix first
/// (ADR 0047).
void put_first(std::vector<int>& falling) {
  constexpr int least = 8;
  const auto behind = std::ranges::find_if(falling, [](int radix) { return radix < least; });
  if (behind != falling.begin()) std::rotate(falling.begin(), behind - 1, behind);
}

/// Where there are more stages for the sake of small radices, the largest of the others comes last: 8 by 4 by
/// 8 takes 0.87 to 0.98 of the time of 8 by 8 by 4 (ADR 0070). Elsewhere it gains nothing.
void put_large_last(std::vector<int>& stages) {
  std::rotate(stages.begin() + 1, stages.begin() + 2, stages.end());
}

/// The last stage of an even number of points has an even number of butterflies, so that the results of each
/// are whole cells apart (`LineStep::diverted_bits`).
void put_last(std::vector<int>& stages, Index n) {
  if (n % 2 == 0 && n / stages.back() % 2 != 0) std::swap(stages.back(), stages[stages.size() - 2]);
}

}  // namespace

std::optional<LineRadices> line_radices(Index n, int most) {
  if (n > LineStep::most_points) return std::nullopt;
  std::vector<int> stages, best;
  divide(n, LineStep::largest_radix, stages, best);
  const bool is_limited = !best.empty() && std::ranges::max(best) > most;
  if (is_limited) {
    best.clear();
    divide(n, most, stages, best);
  }
  if (best.empty() || best.size() > LineStep::most_stages) return std::nullopt;
  put_first(best);
  if (is_limited) put_large_last(best);
  put_last(best, n);
  LineRadices found{};
  std::ranges::copy(best, found.begin());
  return found;
}

LineRadices complex_line_radices(Index n, LineKind kind) {
  const std::optional<LineRadices> measured = measured_radices(n, kind);
  return measured ? *measured : line_radices(n).value();
}

LineRadices real_row_radices(Index n, RealRows reals) {
  const bool is_read = reals == RealRows::read;
  if (const auto measured = measured_radices(n, is_read ? LineKind::rows_read : LineKind::rows_stored))
    return *measured;
  LineRadices all = line_radices(n).value();
  const auto end = std::ranges::find(all, 0);
  const bool are_two = end == all.begin() + 2;
  if (is_read && are_two && std::has_single_bit(static_cast<std::uint64_t>(n))) return all;
  int& next_to_modes = is_read ? *(end - 1) : all.front();
  // Of the points of two larger butterflies of the first stage some have no registers: that is slower, but
  // for a few lengths that are measured.
  const int most = is_read ? lines::largest_small_radix : 8;
  const auto is_small = [most](int radix) { return radix <= most; };
  if (!is_small(next_to_modes))
    if (const auto small = std::find_if(all.begin(), end, is_small); small != end)
      std::swap(next_to_modes, *small);
  return next_to_modes <= lines::largest_small_radix ? all
                                                     : line_radices(n, lines::largest_small_radix).value();
}

std::optional<LineRadices> part_radices(Index n, int most_parts) {
  // One block has rows of 128 bytes of lines of up to 800 points. Parts of up to 288 points have rows of 256,
  // and those of up to 576 rows of 128, with three tiles on a multiprocessor. Of wide rows the fewest blocks
  // wait for each other; what is longer is divided among as many as there may be.
  constexpr Index shorter_fit = 864, wide = 288, longest = 576;
  if (n < shorter_fit || n > LineStep::most_points) return std::nullopt;
  std::vector<int> found;
  std::tuple<bool, std::size_t, int> least;
  for (int parts = 2; parts <= most_parts; ++parts) {
    const Index points = n / parts;
    if (n % parts != 0 || points > longest) continue;
    std::vector<int> stages, best;
    divide(points, lines::largest_small_radix, stages, best);
    if (best.empty() || best.size() >= LineStep::most_stages) continue;
    const bool is_long = points > wide;
    const std::tuple cost(is_long, best.size(), is_long ? -parts : parts);
    if (!found.empty() && least <= cost) continue;
    least = cost;
    found = best;
    found.insert(found.begin(), parts);
  }
  if (found.empty()) return std::nullopt;
  LineRadices all{};
  std::ranges::copy(found, all.begin());
  return all;
}

namespace {

/// The largest of both steps by rule.
int largest_plane_radix(Index first, Index second, bool of_reals) {
  // Of an H100 and later ones. Kernels look at what there is.
  constexpr Index shared = 227 << 10, value = 16, many = Index{1} << 20;
  const auto gains = [&](Index n) {
    if (std::ranges::max(line_radices(n).value()) <= lines::largest_small_radix) return true;
    const Index tile = value * lines::tile_values(n, Index{1} << lines::column_shift(n, value, many, shared));
    return n <= 1024 && lines::three_fit(tile, shared) && (of_reals || n == 256 || n > 800);
  };
  return gains(first) && gains(second) ? lines::largest_small_radix : LineStep::largest_radix;
}

bool are_small(const LineRadices& of) {
  return std::ranges::max(of) <= lines::largest_small_radix;
}

}  // namespace

PlaneRadices plane_radices(Index first, Index second, bool of_reals) {
  if (!of_reals) {
    const auto a = measured_radices(first, LineKind::planes), b = measured_radices(second, LineKind::planes);
    if (a && b && are_small(*a) == are_small(*b)) return {*a, *b};
  }
  const int most = largest_plane_radix(first, second, of_reals);
  return {line_radices(first, most).value(), line_radices(second, most).value()};
}

}  // namespace weft
