#include "request.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "weft/error.hpp"
#include "weft/fftw3-mpi.h"

namespace weft::fftw3_mpi {

namespace {

constexpr const char* operation = "fftw3-mpi: plan";

/// One side of a transform as FFTW-MPI lays it out.
struct Side {
  int cut;       ///< the dimension that is divided among the ranks
  bool swapped;  ///< whether the second dimension is slower in memory than the first
  Index block;
  Shape shape;
};

bool real_transform(Kind kind) {
  return kind == Kind::r2c || kind == Kind::c2r;
}

bool is_line(const Request& r, int ranks) {
  return r.rank == 1 && ranks > 1 && !has_wide_points(r.howmany, ranks, r.flags);
}

void check(const Request& r, int ranks) {
  if (r.rank < 1) throw Error(operation, std::to_string(r.rank) + " dimensions", "1 to 8");
  for (int a = 0; a < r.rank; ++a)
    if (r.n[a] < 1)
      throw Error(operation, "length " + std::to_string(r.n[a]), "at least 1 point along every dimension");
  if (r.howmany < 1) throw Error(operation, "howmany " + std::to_string(r.howmany), "at least 1");
  if (r.kind == Kind::dft && r.sign != FFTW_FORWARD && r.sign != FFTW_BACKWARD)
    throw Error(operation, "sign " + std::to_string(r.sign), "FFTW_FORWARD or FFTW_BACKWARD");
  if ((r.flags & (FFTW_MPI_SCRAMBLED_IN | FFTW_MPI_SCRAMBLED_OUT)) != 0 && r.rank > 1)
    throw Error(operation, "FFTW_MPI_SCRAMBLED_IN or _OUT, which belong to transforms of one dimension",
                "none of them; FFTW_MPI_TRANSPOSED_IN and _OUT are for two or more");
  if (r.rank == 1 && real_transform(r.kind))
    throw Error(operation, "a real transform of one dimension", "two dimensions or more, as in FFTW");
  if (is_line(r, ranks) && r.kind != Kind::dft)
    throw Error(
        operation, "a real transform of one dimension on " + std::to_string(ranks) + " ranks",
        "a complex one, howmany of at least the number of ranks, two dimensions or more, or one rank");
  if (is_line(r, ranks) && (r.in_block != 0 || r.out_block != 0))
    throw Error(operation, "blocks of a transform of one dimension", "FFTW_MPI_DEFAULT_BLOCK");
  const unsigned transposed = r.flags & (FFTW_MPI_TRANSPOSED_IN | FFTW_MPI_TRANSPOSED_OUT);
  if (transposed != 0 && r.rank == 1)
    throw Error(operation, "a transposed array of one dimension", "two dimensions or more");
  if ((r.kind == Kind::r2c && (transposed & FFTW_MPI_TRANSPOSED_IN) != 0) ||
      (r.kind == Kind::c2r && (transposed & FFTW_MPI_TRANSPOSED_OUT) != 0))
    throw Error(
        operation, "a transposed real array",
        "FFTW_MPI_TRANSPOSED_OUT for r2c and FFTW_MPI_TRANSPOSED_IN for c2r, which concern the complex one");
  if ((r.flags & FFTW_WISDOM_ONLY) != 0)
    throw Error(operation, "FFTW_WISDOM_ONLY, which Weft's wisdom cannot answer",
                "a plan without this flag: it uses what wisdom there is");
}

Transform transform_of(fftw_r2r_kind kind) {
  switch (kind) {
    case FFTW_REDFT00:
      return Transform::dct1;
    case FFTW_REDFT10:
      return Transform::dct2;
    case FFTW_REDFT01:
      return Transform::dct3;
    case FFTW_REDFT11:
      return Transform::dct4;
    case FFTW_RODFT00:
      return Transform::dst1;
    case FFTW_RODFT10:
      return Transform::dst2;
    case FFTW_RODFT01:
      return Transform::dst3;
    case FFTW_RODFT11:
      return Transform::dst4;
    default:
      throw Error(operation, "one of the kinds FFTW_R2HC, FFTW_HC2R and FFTW_DHT",
                  "the cosine and sine transforms FFTW_REDFT and FFTW_RODFT, or r2c and c2r");
  }
}

AxisVector<Transform> transforms_of(const Request& r) {
  AxisVector<Transform> transforms(r.rank, r.kind == Kind::transpose ? Transform::none : Transform::c2c);
  if (real_transform(r.kind)) transforms[r.rank - 1] = Transform::r2c;
  if (r.kind == Kind::r2r)
    for (int a = 0; a < r.rank; ++a) transforms[a] = transform_of(r.kinds[a]);
  if (r.howmany > 1) transforms.push_back(Transform::none);
  return transforms;
}

/// `flag`: the one that transposes this side. A transpose's output is cut along the second dimension anyway,
/// and the flags swap the order within a rank.
Side side_of(const Request& r, bool output, Shape shape) {
  const bool flagged = (r.flags & (output ? FFTW_MPI_TRANSPOSED_OUT : FFTW_MPI_TRANSPOSED_IN)) != 0;
  const bool second = r.kind == Kind::transpose ? output : flagged;
  const bool swapped = r.kind == Kind::transpose ? output != flagged : flagged;
  if ((r.kind == Kind::r2c && output) || (r.kind == Kind::c2r && !output))
    shape[r.rank - 1] = shape[r.rank - 1] / 2 + 1;
  return {second ? 1 : 0, swapped, output ? r.out_block : r.in_block, shape};
}

std::vector<Box> boxes_of(const Side& side, int ranks) {
  const Index n = side.shape[side.cut];
  if (side.block < 0 || (side.block > 0 && (n - 1) / side.block >= ranks))
    throw Error(
        operation, "blocks of " + std::to_string(side.block) + " rows of " + std::to_string(n),
        "FFTW_MPI_DEFAULT_BLOCK, or blocks that " + std::to_string(ranks) + " ranks can hold, one each");
  std::vector<Box> boxes;
  for (int rank = 0; rank < ranks; ++rank) {
    const Rows rows = rows_of(n, side.block, ranks, rank);
    Box box = Box::whole(side.shape);
    box.lo[side.cut] = rows.start;
    box.hi[side.cut] = rows.start + rows.count;
    boxes.push_back(box);
  }
  return boxes;
}

Order order_of(const Side& side) {
  Order order;
  for (int a = 0; a < side.shape.size(); ++a) order.push_back(a);
  if (side.swapped) std::swap(order[0], order[1]);
  return order;
}

/// Strides of the padded real array of r2c: they do not depend on how many rows a rank has.
Strides padded_strides(const Request& r, const Shape& shape) {
  Strides strides(shape.size(), 1);
  Index room = r.howmany;
  for (int a = r.rank - 1; a >= 0; --a) {
    strides[a] = room;
    room *= a == r.rank - 1 ? 2 * (shape[a] / 2 + 1) : shape[a];
  }
  return strides;
}

Options options_of(unsigned flags, int threads) {
  Options options;
  const bool patient = (flags & (FFTW_PATIENT | FFTW_EXHAUSTIVE)) != 0;
  options.set("effort", (flags & FFTW_ESTIMATE) != 0 ? "estimate" : patient ? "patient" : "measure");
  if (threads > 1) options.set("threads", threads);
  return options;
}

/// Whether some rank holds the same rows of both arrays, which are `swapped` or interleaved differently: in
/// place they cannot be transformed where they are.
bool clash(const Request& r, const Side& in, const Side& out, const std::vector<Box>& from,
           const std::vector<Box>& to) {
  if (!real_transform(r.kind) || (r.howmany == 1 && in.swapped == out.swapped)) return false;
  for (std::size_t rank = 0; rank < from.size(); ++rank) {
    bool same = !from[rank].empty();
    for (int a = 0; a < r.rank - 1; ++a)
      same = same && from[rank].lo[a] == to[rank].lo[a] && from[rank].hi[a] == to[rank].hi[a];
    const int last = r.rank - 1;
    same = same && from[rank].extent(last) == in.shape[last] && to[rank].extent(last) == out.shape[last];
    if (same) return true;
  }
  return false;
}

/// The boxes of all ranks on one side of a line.
std::vector<Box> boxes_of(const Line& line, bool modes, const Shape& shape, int ranks) {
  std::vector<Box> boxes;
  for (int rank = 0; rank < ranks; ++rank) {
    const Rows rows = line.rows(modes, ranks, rank);
    Box box = Box::whole(shape);
    box.lo[modes ? 1 : 0] = rows.start;
    box.hi[modes ? 1 : 0] = rows.start + rows.count;
    boxes.push_back(box.empty() ? Box{Shape(shape.size(), 0), Shape(shape.size(), 0)} : box);
  }
  return boxes;
}

Translation line(const Request& r, bool in_place, int ranks, int threads) {
  Translation t{{}, options_of(r.flags, threads), Direction::forward, false, {}, {}};
  const Line line = line_of(r.n[0], ranks);
  t.problem.shape = line.shape;
  if (line.shape[1] > 1)
    t.problem.line = {0, 1};
  else
    t.options.set("shrink", 1);
  t.problem.transforms = {Transform::c2c, Transform::c2c};
  if (r.howmany > 1) {
    t.problem.shape.push_back(r.howmany);
    t.problem.transforms.push_back(Transform::none);
  }
  t.problem.precision = r.precision;
  t.problem.element = Element::complex;
  t.problem.in_place = in_place;
  t.from = boxes_of(line, false, t.problem.shape, ranks);
  t.to = boxes_of(line, true, t.problem.shape, ranks);
  Order transposed{1, 0};
  if (r.howmany > 1) transposed.push_back(2);
  t.problem.input = Distribution::boxes(t.from);
  t.problem.output = Distribution::boxes(t.to).with_order(transposed);
  if (r.sign == FFTW_BACKWARD) {
    t.direction = Direction::backward;
    std::swap(t.from, t.to);
  }
  return t;
}

}  // namespace

Line line_of(Index n, int ranks) {
  Line best{{n, 1}};
  Index least = n;
  for (Index a = 2; a <= n / a; ++a) {  // from the least square to the nearest
    if (n % a != 0) continue;
    const Index b = n / a;
    const Index most = std::max(rows_of(a, 0, ranks, 0).count * b, rows_of(b, 0, ranks, 0).count * a);
    if (most > least) continue;
    least = most;
    best = {{a, b}};
  }
  return best;
}

Rows Line::rows(bool modes, int ranks, int rank) const {
  if (shape[1] > 1) return rows_of(shape[modes ? 1 : 0], 0, ranks, rank);
  return {0, rank > 0 ? 0 : modes ? 1 : shape[0]};
}

Rows rows_of(Index n, Index block, int ranks, int rank) {
  const Index size = std::min(block > 0 ? block : (n + ranks - 1) / ranks, n);
  if (size == 0 || rank > (n - 1) / size) return {0, 0};
  const Index start = rank * size;
  return {start, std::min(size, n - start)};
}

Translation translate(const Request& r, bool in_place, int ranks, int threads) {
  check(r, ranks);
  if (is_line(r, ranks)) return line(r, in_place, ranks, threads);
  Translation t{{}, options_of(r.flags, threads), Direction::forward, false, {}, {}};
  Shape shape = Shape::from(r.n, r.n + r.rank);
  if (r.howmany > 1) shape.push_back(r.howmany);
  const Side in = side_of(r, false, shape), out = side_of(r, true, shape);
  t.from = boxes_of(in, ranks);
  t.to = boxes_of(out, ranks);

  t.problem.shape = shape;
  t.problem.transforms = transforms_of(r);
  t.problem.precision = r.precision;
  t.problem.element = r.kind == Kind::dft ? Element::complex : Element::real;
  t.problem.input = Distribution::boxes(t.from).with_order(order_of(in));
  t.problem.output = Distribution::boxes(t.to).with_order(order_of(out));
  if (r.kind == Kind::r2c)
    t.problem.input = Distribution::boxes(t.from).with_strides(padded_strides(r, shape));
  if (r.kind == Kind::c2r)
    t.problem.output = Distribution::boxes(t.to).with_strides(padded_strides(r, shape));
  t.relayed = in_place && clash(r, in, out, t.from, t.to);
  t.problem.in_place = in_place && !t.relayed;

  // Backward reads the output side.
  if (r.kind == Kind::c2r || (r.kind == Kind::dft && r.sign == FFTW_BACKWARD)) {
    t.direction = Direction::backward;
    std::swap(t.problem.input, t.problem.output);
  }
  return t;
}

double nominal_flops(const Translation& t, int rank) {
  double points = 1, length = 1;
  for (int a = 0; a < t.problem.shape.size(); ++a) {
    points *= static_cast<double>(t.problem.shape[a]);
    if (t.problem.transforms[a] != Transform::none) length *= static_cast<double>(t.problem.shape[a]);
  }
  double whole = 0;
  for (const Box& box : t.from) whole += static_cast<double>(box.count());
  const double share = static_cast<double>(t.from[static_cast<std::size_t>(rank)].count()) / whole;
  return (t.problem.element == Element::complex ? 5 : 2.5) * points * share * std::log2(length);
}

}  // namespace weft::fftw3_mpi
