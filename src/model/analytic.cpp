#include "model/analytic.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/arithmetic.hpp"
#include "weft/error.hpp"

namespace weft::analytic {

const char* name_of(ReshapeType type) {
  constexpr std::array names{"brick - pencil", "brick - slab", "pencil - pencil",
                             "pencil - slab",  "slab - slab",  "pencil - slab across"};
  return at(names, static_cast<int>(type));
}

namespace {
/// Exponents in sixths, which are exact.
int sixths(ReshapeType type, Reading reading) {
  const bool square = reading == Reading::near_square;
  switch (type) {
    case ReshapeType::brick_pencil:
      return 2;  // near-square pencils: P^1/6 along each of two axes
    case ReshapeType::brick_slab:
      return 4;
    case ReshapeType::pencil_pencil:
    case ReshapeType::pencil_slab:
      return square ? 3 : 4;
    case ReshapeType::slab_slab:
    case ReshapeType::pencil_slab_across:
      return 6;
  }
  return 0;
}

/// `x`, or the whole number that it differs from by rounding errors only.
double whole_if_near(double x) {
  const double whole = std::round(x);
  return std::abs(x - whole) < 1e-12 * x ? whole : x;
}
}  // namespace

double partner_exponent(ReshapeType type, Reading reading) {
  return sixths(type, reading) / 6.0;
}

double table_partners(ReshapeType type, Reading reading, double ranks) {
  return whole_if_near(std::pow(ranks, partner_exponent(type, reading)));
}

std::optional<ReshapeType> type_of(const Grid& from, const Grid& to) {
  const auto cut_axes = [](const Grid& g) {
    return std::count_if(g.begin(), g.end(), [](int parts) { return parts > 1; });
  };
  const auto few = std::min(cut_axes(from), cut_axes(to)), many = std::max(cut_axes(from), cut_axes(to));
  if (from == to || few == 0 || many > 3) return std::nullopt;
  if (many == 3) {
    if (few == 3) return std::nullopt;
    return few == 2 ? ReshapeType::brick_pencil : ReshapeType::brick_slab;
  }
  if (few == many) return many == 2 ? ReshapeType::pencil_pencil : ReshapeType::slab_slab;
  for (int a = 0; a < from.size(); ++a)
    if (from[a] > 1 && to[a] > 1) return ReshapeType::pencil_slab;
  return ReshapeType::pencil_slab_across;
}

std::pair<Grid, Grid> table_grids(ReshapeType type, Reading reading, const Shape& shape, int ranks) {
  const Grid brick = min_surface_grid(shape, ranks, {0, 1, 2});
  const int fewest = *std::min_element(brick.begin(), brick.end());
  const int side = reading == Reading::cube_root ? fewest : near_square(ranks)[0];
  const Grid pencil{side, ranks / side, 1}, turned{side, 1, ranks / side};
  switch (type) {
    case ReshapeType::brick_pencil:
      return {brick, pencil};
    case ReshapeType::brick_slab:
      return {brick, Grid{ranks, 1, 1}};
    case ReshapeType::pencil_pencil:
      return {pencil, turned};
    case ReshapeType::pencil_slab:
      return {pencil, Grid{ranks, 1, 1}};
    case ReshapeType::slab_slab:
      return {Grid{ranks, 1, 1}, Grid{1, ranks, 1}};
    case ReshapeType::pencil_slab_across:
      return {pencil, Grid{1, 1, ranks}};
  }
  return {};
}

namespace {
/// The most parts, among `to` of `n` points, that one part among `from` meets.
Index most_parts_met(Index n, int from, int to) {
  Index most = 0;
  for (int i = 0; i < from; ++i) {
    const Range r = split(n, from, i);
    if (r.lo < r.hi) most = std::max<Index>(most, part_of(n, to, r.hi - 1) - part_of(n, to, r.lo) + 1);
  }
  return most;
}
}  // namespace

Index partners(const Shape& shape, const Grid& from, const Grid& to) {
  Index product = 1;
  for (int a = 0; a < shape.size(); ++a) product *= most_parts_met(shape[a], from[a], to[a]);
  return product;
}

std::vector<ReshapeCount> counted_messages(const Schedule& schedule) {
  std::vector<ReshapeCount> counts;
  for (const int stage : reshape_stages(schedule)) {
    const Tiling& from = *at(schedule.fields, stage).tiling;
    const Tiling& to = *at(schedule.fields, stage + 1).tiling;
    ReshapeCount most;
    most.stage = stage;
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      const Traffic t = traffic(from, to, rank);
      const Index own = intersect(from.box(rank), to.box(rank)).empty() ? 0 : 1;
      most.partners = std::max(most.partners, t.messages + own);
      most.messages = std::max(most.messages, t.messages);
      most.sent_points = std::max(most.sent_points, t.sent_points);
    }
    counts.push_back(most);
  }
  return counts;
}

double surface(const Shape& shape, const Grid& grid) {
  std::array<double, 3> side{};
  for (int a = 0; a < 3; ++a) at(side, a) = static_cast<double>(divided_up<Index>(shape[a], grid[a]));
  return 2 * (side[0] * side[1] + side[1] * side[2] + side[2] * side[0]);
}

std::array<Grid, 5> grid_sequence(const Shape& shape, int ranks) {
  const AxisVector<int> pq = near_square(ranks);
  const Grid bricks = min_surface_grid(shape, ranks, {0, 1, 2});
  return {bricks, Grid{1, pq[0], pq[1]}, Grid{pq[0], 1, pq[1]}, Grid{pq[0], pq[1], 1}, bricks};
}

double exchange_time(double partners, double ranks, double bytes, const Link& link) {
  return (partners - 1) * (link.latency + bytes / (link.bandwidth * ranks * partners));
}

double slab_time(double bytes, double ranks, const Link& link) {
  return exchange_time(ranks, ranks, bytes, link);
}

double pencil_time(double bytes, double p, double q, const Link& link) {
  return exchange_time(p, p * q, bytes, link) + exchange_time(q, p * q, bytes, link);
}

double slab_bandwidth(double bytes, double ranks, double seconds, double latency) {
  const double left = seconds - (ranks - 1) * latency;
  if (ranks <= 1 || left <= 0)
    throw Error("bandwidth of slabs",
                std::to_string(seconds) + " s on " + std::to_string(static_cast<Index>(ranks)) + " ranks",
                "two ranks at least, and more time than latency takes");
  return bytes * (ranks - 1) / (ranks * ranks * left);
}

double pencil_bandwidth(double bytes, double p, double q, double seconds, double latency) {
  const double left = seconds - (p + q - 2) * latency;
  if (p * q <= 1 || left <= 0)
    throw Error("bandwidth of pencils",
                std::to_string(seconds) + " s on " + std::to_string(static_cast<Index>(p * q)) + " ranks",
                "two ranks at least, and more time than latency takes");
  return bytes * ((p - 1) / p + (q - 1) / q) / (p * q * left);
}

double sequence_time(const std::vector<double>& partners, double ranks, double bytes, const Link& link) {
  double seconds = 0;
  for (const double n : partners) seconds += exchange_time(n, ranks, bytes, link);
  return seconds;
}

namespace {

/// The partners of the reshapes between bricks, through slabs and through pencils.
struct Sequences {
  std::vector<double> slabs, pencils;
};

Sequences sequences_by_formula(PhaseModel model, double ranks) {
  using enum ReshapeType;
  const bool printed = model == PhaseModel::table;
  const Reading reading = printed ? Reading::cube_root : Reading::near_square;
  const auto n = [&](ReshapeType type) { return table_partners(type, reading, ranks); };
  return {{n(brick_pencil), n(printed ? pencil_slab : pencil_slab_across), n(brick_slab)},
          {n(brick_pencil), n(pencil_pencil), n(pencil_pencil), n(brick_pencil)}};
}

Sequences sequences_on_grids(const Shape& shape, int ranks) {
  const std::array<Grid, 5> through = grid_sequence(shape, ranks);
  const std::array<Grid, 4> slabs{through[0], through[1], Grid{ranks, 1, 1}, through[0]};
  Sequences s;
  const auto add = [&](std::vector<double>& to, const Grid& a, const Grid& b) {
    to.push_back(static_cast<double>(partners(shape, a, b)));
  };
  for (std::size_t i = 0; i + 1 < slabs.size(); ++i) add(s.slabs, slabs.at(i), slabs.at(i + 1));
  for (std::size_t i = 0; i + 1 < through.size(); ++i) add(s.pencils, through.at(i), through.at(i + 1));
  return s;
}

double bytes_of(Index n, double point_bytes) {
  return std::pow(static_cast<double>(n), 3) * point_bytes;
}

Choice times_of(const Sequences& s, double ranks, double bytes, const Link& link) {
  return {sequence_time(s.slabs, ranks, bytes, link), sequence_time(s.pencils, ranks, bytes, link)};
}

}  // namespace

Choice choose(PhaseModel model, Index n, int ranks, const Link& link, double point_bytes) {
  const double bytes = bytes_of(n, point_bytes);
  const AxisVector<int> pq = near_square(ranks);
  Choice choice;
  if (model == PhaseModel::exchanges) {
    choice = {slab_time(bytes, ranks, link), pencil_time(bytes, pq[0], pq[1], link)};
  } else if (model == PhaseModel::grids) {
    choice = times_of(sequences_on_grids({n, n, n}, ranks), ranks, bytes, link);
  } else {
    choice = times_of(sequences_by_formula(model, ranks), ranks, bytes, link);
  }
  choice.slabs_fit = ranks <= n;
  choice.pencils_fit = pq[1] <= n;
  return choice;
}

std::optional<double> tie(PhaseModel model, Index n, const Link& link, double point_bytes) {
  if (model == PhaseModel::grids) return std::nullopt;
  const double bytes = bytes_of(n, point_bytes);
  const auto slabs_win = [&](double ranks) {
    if (model != PhaseModel::exchanges) {
      const Choice c = times_of(sequences_by_formula(model, ranks), ranks, bytes, link);
      return c.slab_s <= c.pencil_s;
    }
    const double side = std::sqrt(ranks);
    return slab_time(bytes, ranks, link) <= pencil_time(bytes, side, side, link);
  };
  double low = 2, high = 1e9;
  if (slabs_win(high)) return std::nullopt;
  for (int i = 0; i < 100; ++i) {
    const double middle = std::sqrt(low * high);
    (slabs_win(middle) ? low : high) = middle;
  }
  return high;
}

Roof roofline(double points, int nodes, int reshapes, const Node& node, double point_bytes) {
  Roof roof;
  roof.flops = 5 * points * std::log2(points);
  const double bytes = point_bytes * points * reshapes;
  roof.intensity = roof.flops / bytes;
  roof.wire_s = bytes / (nodes * node.bandwidth);
  roof.compute_s = roof.flops / (nodes * node.flops);
  roof.flops_per_s = roof.flops / std::max(roof.wire_s, roof.compute_s);
  return roof;
}

double summit_curve(double nodes, double points) {
  return 1.953 * nodes * std::log2(points);
}

}  // namespace weft::analytic
