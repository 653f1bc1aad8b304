// heFFTe's boxes, and its helpers that cut an array into boxes. Corners are inclusive.
#pragma once

#include "types.hpp"

// NOLINTBEGIN(readability-identifier-naming): the names are heFFTe's
namespace heffte {

/// A part of a global array: the indices from `low` to `high`, both included, on three axes. `order` lists
/// the axes from fastest to slowest in memory. Without points if a `high` is below its `low`.
template <typename index = int>
struct box3d {
  /// Axis 0 is the fastest, unless an order is given.
  box3d(std::array<index, 3> clow, std::array<index, 3> chigh)
      : box3d(clow, chigh, std::array<int, 3>{{0, 1, 2}}) {}
  box3d(std::array<index, 3> clow, std::array<index, 3> chigh, std::array<int, 3> corder)
      : low(clow),
        high(chigh),
        size{{chigh[0] - clow[0] + 1, chigh[1] - clow[1] + 1, chigh[2] - clow[2] + 1}},
        order(corder) {}
  /// Of an array of two axes: the third one has length 1.
  box3d(std::array<index, 2> clow, std::array<index, 2> chigh)
      : box3d(clow, chigh, std::array<int, 2>{{0, 1}}) {}
  box3d(std::array<index, 2> clow, std::array<index, 2> chigh, std::array<int, 2> corder)
      : box3d(std::array<index, 3>{{clow[0], clow[1], 0}}, std::array<index, 3>{{chigh[0], chigh[1], 0}},
              std::array<int, 3>{{corder[0], corder[1], 2}}) {}

  /// Whether there are no points, and how many there are.
  bool empty() const { return size[0] <= 0 || size[1] <= 0 || size[2] <= 0; }
  long long count() const {
    return empty() ? 0
                   : static_cast<long long>(size[0]) * static_cast<long long>(size[1]) *
                         static_cast<long long>(size[2]);
  }
  /// The part that two boxes have in common, in the order of this one.
  box3d collide(box3d const other) const {
    if (empty() || other.empty()) return nothing();
    return box3d(of_axes([&](std::size_t a) { return std::max(low[a], other.low[a]); }),
                 of_axes([&](std::size_t a) { return std::min(high[a], other.high[a]); }), order);
  }
  /// The box of what becomes of this one, a whole array of real numbers, if r2c halves axis `dimension`.
  box3d r2c(int dimension) const {
    if (empty()) return nothing();
    return box3d(low, of_axes([&](std::size_t a) {
                   return static_cast<int>(a) == dimension ? static_cast<index>(low[a] + size[a] / 2)
                                                           : high[a];
                 }),
                 order);
  }
  /// Whether an axis has length 1.
  bool is2d() const { return size[0] == 1 || size[1] == 1 || size[2] == 1; }
  /// Whether the corners are the same; the order does not matter.
  bool operator==(box3d const& other) const { return low == other.low && high == other.high; }
  bool operator!=(box3d const& other) const { return !(*this == other); }
  /// Whether the order is the same.
  bool ordered_same_as(box3d const& other) const { return order == other.order; }
  /// The place of an axis in the order; the length of the axis at a place.
  int find_order(int dir) const { return dir == order[0] ? 0 : dir == order[1] ? 1 : 2; }
  index osize(int dimension) const {
    return size[static_cast<std::size_t>(order[static_cast<std::size_t>(dimension)])];
  }

  /// First and last index and length of each axis.
  std::array<index, 3> const low, high, size;
  /// The axes from fastest to slowest.
  std::array<int, 3> const order;

 private:
  static box3d nothing() {
    return box3d(std::array<index, 3>{{0, 0, 0}}, std::array<index, 3>{{-1, -1, -1}});
  }
  template <typename F>
  static std::array<index, 3> of_axes(F const& f) {
    return {{f(0), f(1), f(2)}};
  }
};

/// A box of two axes is one of three, of which the last has length 1.
template <typename index = int>
using box2d = box3d<index>;

/// Corners and lengths, an axis on a line, and the order.
template <typename index>
inline std::ostream& operator<<(std::ostream& os, box3d<index> const box) {
  for (std::size_t a = 0; a < 3; ++a)
    os << box.low[a] << "  " << box.high[a] << "  (" << box.size[a] << ")\n";
  return os << '(' << box.order[0] << ',' << box.order[1] << ',' << box.order[2] << ")\n\n";
}

/// The boxes of all ranks before and after forward.
template <typename index = int>
struct ioboxes {
  std::vector<box3d<index>> in, out;
};

namespace mpi {
/// The boxes of all ranks. Collective.
template <typename index>
inline ioboxes<index> gather_boxes(box3d<index> const my_inbox, box3d<index> const my_outbox,
                                   MPI_Comm const comm) {
  using Boxes = std::array<box3d<index>, 2>;
  const Boxes mine = {{my_inbox, my_outbox}};
  std::vector<Boxes> all(static_cast<std::size_t>(comm_size(comm)), mine);
  MPI_Allgather(&mine, static_cast<int>(sizeof(Boxes)), MPI_BYTE, all.data(), static_cast<int>(sizeof(Boxes)),
                MPI_BYTE, comm);
  ioboxes<index> result;
  for (const Boxes& b : all) {
    result.in.push_back(b[0]);
    result.out.push_back(b[1]);
  }
  return result;
}
}  // namespace mpi

/// The smallest box that has all of these, of which there is at least one, in it.
template <typename index>
inline box3d<index> find_world(std::vector<box3d<index>> const& boxes) {
  std::array<index, 3> low = boxes[0].low, high = boxes[0].high;
  for (const auto& b : boxes)
    for (std::size_t a = 0; a < 3; ++a) {
      low[a] = std::min(low[a], b.low[a]);
      high[a] = std::max(high[a], b.high[a]);
    }
  return box3d<index>(low, high);
}

/// Whether two lists have the same boxes, whatever their orders.
template <typename index>
inline bool match(std::vector<box3d<index>> const& shape0, std::vector<box3d<index>> const& shape1) {
  return shape0 == shape1;
}

/// True. Throws std::invalid_argument if boxes overlap, leave a part of the world out, or the world does not
/// begin at 0.
template <typename index>
inline bool world_complete(std::vector<box3d<index>> const& boxes, box3d<index> const world) {
  long long points = 0;
  for (const auto& b : boxes) points += b.count();
  if (points < world.count()) throw std::invalid_argument("heffte: the boxes do not fill the world");
  for (index first : world.low)
    if (first != 0) throw std::invalid_argument("heffte: the indices of the world do not begin at 0");
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!boxes[i].collide(boxes[j]).empty())
        throw std::invalid_argument("heffte: boxes " + std::to_string(j) + " and " + std::to_string(i) +
                                    " overlap");
  return true;
}

/// All ways to write n as a product of two numbers, the first one ascending. As in heFFTe 1 is listed twice.
inline std::vector<std::array<int, 2>> get_factors(int const n) {
  std::vector<std::array<int, 2>> result;
  for (int i = 1; i <= n; ++i)
    if (n % i == 0) result.push_back({{i, n / i}});
  if (n == 1) result.push_back({{1, 1}});
  return result;
}

/// What `make_procgrid` makes small: the area and half the circumference of a rectangle.
inline int get_area(std::array<int, 2> const& dims) {
  return dims[0] * dims[1] + dims[0] + dims[1];
}

/// The grid of two axes for so many ranks that is nearest to a square, the shorter side first.
inline std::array<int, 2> make_procgrid(int const num_procs) {
  const auto factors = get_factors(num_procs);
  return *std::min_element(
      factors.begin(), factors.end(),
      [](std::array<int, 2> const& a, std::array<int, 2> const& b) { return get_area(a) < get_area(b); });
}

/// The grid of three axes with 1 along `direction_1d` and a grid of two along the others: the candidate, or,
/// if it has more parts than the world points along an axis, the nearest to a square of as many ranks that
/// has not, with the longer side first of those that are alike. Throws std::runtime_error if there is none.
template <typename index>
inline std::array<int, 3> make_procgrid2d(box3d<index> const world, int direction_1d,
                                          std::array<int, 2> const candidate_grid) {
  const auto grid_of = [&](std::array<int, 2> const& g) {
    return direction_1d == 0   ? std::array<int, 3>{{1, g[0], g[1]}}
           : direction_1d == 1 ? std::array<int, 3>{{g[0], 1, g[1]}}
                               : std::array<int, 3>{{g[0], g[1], 1}};
  };
  const auto fits = [&](std::array<int, 3> const& grid) {
    return grid[0] <= world.size[0] && grid[1] <= world.size[1] && grid[2] <= world.size[2];
  };
  if (fits(grid_of(candidate_grid))) return grid_of(candidate_grid);
  const std::array<int, 2>* best = nullptr;
  const auto factors = get_factors(candidate_grid[0] * candidate_grid[1]);
  for (const auto& g : factors)
    if (fits(grid_of(g)) && (best == nullptr || get_area(g) <= get_area(*best))) best = &g;
  if (best == nullptr)
    throw std::runtime_error("heffte: more ranks than the world can be cut for along two axes");
  return grid_of(*best);
}

/// Which ranks take part in a reshape, for `split_world`: rank i takes the place map[i] of the grid, or none
/// if that is -1. Without a map all ranks take part in their order.
struct rank_remap {
  rank_remap() : rank_remap(-1) {}
  explicit rank_remap(int rank) : mpi_rank(rank), size_subcomm(0) {}
  /// The first `sub_ranks` of `all_ranks`.
  void set_subranks(std::size_t all_ranks, int sub_ranks) {
    size_subcomm = sub_ranks;
    map.assign(all_ranks, -1);
    std::iota(map.begin(), map.begin() + sub_ranks, 0);
  }
  /// Whether all ranks take part.
  bool empty() const { return map.empty(); }

  int const mpi_rank;
  std::vector<int> map;
  int size_subcomm;
};

/// The world cut into a grid of nearly equal boxes, the larger ones first; axis 0 of the grid counts fastest.
/// All have the order of the world.
template <typename index>
inline std::vector<box3d<index>> split_world(box3d<index> const world, std::array<int, 3> const proc_grid,
                                             rank_remap const& remap = rank_remap()) {
  const auto first = [&](std::size_t a, int part) -> index {
    const index parts = proc_grid[a], i = part;
    return static_cast<index>(world.low[a] + i * (world.size[a] / parts) +
                              std::min(i, world.size[a] % parts));
  };
  std::vector<box3d<index>> cells;
  for (int k = 0; k < proc_grid[2]; ++k)
    for (int j = 0; j < proc_grid[1]; ++j)
      for (int i = 0; i < proc_grid[0]; ++i)
        cells.push_back(box3d<index>(
            std::array<index, 3>{{first(0, i), first(1, j), first(2, k)}},
            std::array<index, 3>{{first(0, i + 1) - 1, first(1, j + 1) - 1, first(2, k + 1) - 1}},
            world.order));
  if (remap.empty()) return cells;
  std::vector<box3d<index>> of_ranks;
  for (int place : remap.map)
    of_ranks.push_back(place < 0 ? box3d<index>(std::array<index, 3>{{0, 0, 0}},
                                                std::array<index, 3>{{-1, -1, -1}}, world.order)
                                 : cells[static_cast<std::size_t>(place)]);
  return of_ranks;
}

/// Whether all boxes are whole along one axis, or along two.
template <typename index>
inline bool is_pencils(box3d<index> const world, std::vector<box3d<index>> const& shape, int direction) {
  const auto a = static_cast<std::size_t>(direction);
  return std::all_of(shape.begin(), shape.end(),
                     [&](box3d<index> const& b) { return b.size[a] == world.size[a]; });
}
template <typename index>
inline bool is_slab(box3d<index> const world, std::vector<box3d<index>> const& shape, int direction1,
                    int direction2) {
  return is_pencils(world, shape, direction1) && is_pencils(world, shape, direction2);
}

/// The same boxes in another order.
template <typename index>
inline std::vector<box3d<index>> reorder(std::vector<box3d<index>> const& shape, std::array<int, 3> order) {
  std::vector<box3d<index>> result;
  for (const auto& b : shape) result.push_back(box3d<index>(b.low, b.high, order));
  return result;
}

/// The grid of so many ranks whose boxes have the smallest surface, of those that leave no box without
/// points; if all do, the grid that cuts the last axis.
template <typename index>
inline std::array<int, 3> proc_setup_min_surface(box3d<index> const world, int num_procs) {
  std::array<int, 3> best = {{1, 1, num_procs}};
  long long smallest = std::numeric_limits<long long>::max();
  for (int i = 1; i <= num_procs && i <= world.size[0]; ++i) {
    const int rest = num_procs / i;
    if (num_procs % i != 0) continue;
    for (int j = 1; j <= rest && j <= world.size[1]; ++j) {
      const int k = rest / j;
      if (rest % j != 0 || k > world.size[2]) continue;
      const long long x = world.size[0] / i, y = world.size[1] / j, z = world.size[2] / k;
      if (x * y + y * z + z * x >= smallest) continue;
      smallest = x * y + y * z + z * x;
      best = {{i, j, k}};
    }
  }
  if (num_procs < 1)
    throw std::runtime_error("heffte: the world cannot be cut into " + std::to_string(num_procs) + " boxes");
  return best;
}

}  // namespace heffte
// NOLINTEND(readability-identifier-naming)
