#include "support/random_problem.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "api/problem_check.hpp"
#include "base/arithmetic.hpp"
#include "base/environment.hpp"
#include "base/text.hpp"
#include "geometry/layout.hpp"
#include "geometry/transform.hpp"
#include "program/pipeline.hpp"
#include "support/dice.hpp"
#include "support/mode_columns.hpp"
#include "support/random_parameters.hpp"
#include "support/random_values.hpp"

namespace weft::test {

namespace {

Order random_order(Dice& dice, int ndim) {
  Order order = c_order(ndim);
  std::shuffle(order.begin(), order.end(), dice.engine());
  return order;
}

void cut(Dice& dice, const Box& box, int parts, std::vector<Box>& out) {
  if (parts == 1) {
    out.push_back(box);
    return;
  }
  const int left = dice.range(1, parts - 1);
  const int axis = dice.range(0, box.ndim() - 1);
  const Index n = box.extent(axis);
  const Index at =
      dice.chance(0.85) ? n * left / parts : static_cast<Index>(dice.range(0, static_cast<int>(n)));
  Box a = box, b = box;
  a.hi[axis] = b.lo[axis] = box.lo[axis] + at;
  cut(dice, a, left, out);
  cut(dice, b, parts - left, out);
}

Shape random_shape(Dice& dice, int ranks) {
  const int ndim = dice.chance(0.75) ? dice.range(2, 3) : ranks == 1 ? dice.range(1, 8) : dice.range(2, 8);
  const Index limit = dice.chance(0.1) ? 60000 : 6000;
  Shape shape(ndim, 1);
  for (int a = 0; a < ndim; ++a) {
    Index room = limit;
    for (Index n : shape) room /= n;
    const int most = static_cast<int>(std::clamp<Index>(room, 1, ndim > 4 ? 7 : 128));
    shape[a] = dice.chance(0.3) ? std::min(most, dice.pick({1, 2, 3, 7, 16, 31, 64, 97, 127, 128}))
                                : dice.range(1, dice.chance(0.7) ? std::min(most, 24) : most);
  }
  std::shuffle(shape.begin(), shape.end(), dice.engine());
  return shape;
}

Distribution random_named(Dice& dice, int ndim, int ranks) {
  const int axis = dice.range(0, ndim - 1);
  switch (dice.range(0, 4)) {
    case 0:
      if (ndim >= 3) return Distribution::pencil(axis);
      break;
    case 1:
      return Distribution::brick();
    case 2:
      return Distribution::fastest();
    case 3: {
      AxisVector<int> grid(ndim, 1);
      grid[axis] = dice.range(1, ranks);
      return Distribution::grid(grid);
    }
    default:
      break;
  }
  return Distribution::slab(axis);
}

void draw_distribution(Dice& dice, RandomProblem& p, bool input) {
  const Shape shape = input ? input_shape(p.problem) : output_shape(p.problem);
  const int ndim = shape.size();
  Distribution& named = input ? p.problem.input : p.problem.output;
  named = random_named(dice, ndim, p.ranks);
  if (dice.chance(0.4))
    (input ? p.input_boxes : p.output_boxes) = random_tiling(dice.engine()(), shape, p.ranks);
  std::vector<Order>& orders = input ? p.input_orders : p.output_orders;
  const bool natural = dice.chance(0.5), alike = dice.chance(0.5);
  orders.assign(static_cast<std::size_t>(p.ranks), c_order(ndim));
  if (natural) return;
  const Order common = random_order(dice, ndim);
  for (Order& o : orders) o = alike ? common : random_order(dice, ndim);
}

void draw_transforms(Dice& dice, RandomProblem& p) {
  Problem& problem = p.problem;
  const int ndim = problem.shape.size();
  problem.transforms = AxisVector<Transform>(ndim, Transform::c2c);
  const double cosines = dice.pick({0.0, 0.0, 0.3, 1.0});
  for (int a = 0; a < ndim; ++a) {
    Transform& t = problem.transforms[a];
    if (dice.chance(0.15)) {
      t = Transform::none;
    } else if (dice.chance(cosines)) {
      t = static_cast<Transform>(
          dice.range(static_cast<int>(Transform::dct1), static_cast<int>(Transform::dst4)));
      if (t == Transform::dct1 && problem.shape[a] == 1) t = Transform::dct2;
    }
  }
  if (dice.chance(0.4)) problem.transforms[dice.range(0, ndim - 1)] = Transform::r2c;
  const bool fourier =
      problem.transforms.contains(Transform::c2c) || problem.transforms.contains(Transform::r2c);
  if (!fourier) problem.element = dice.chance(0.5) ? Element::real : Element::complex;
  if (dice.chance(0.3)) {
    problem.forward_scale = dice.pick({Scale::none, Scale::symmetric, Scale::full});
    problem.backward_scale = dice.pick({Scale::none, Scale::symmetric, Scale::full});
  }
  if (ndim < max_axes && dice.chance(0.25)) problem.batch = dice.range(2, 4);
}

/// Two axes that are one line, where that can be.
void draw_line(RandomProblem& p) {
  Dice dice(p.seed + 55);
  AxisVector<int> axes;
  for (int a = 0; a < p.problem.shape.size(); ++a)
    if (p.problem.transforms[a] == Transform::c2c &&
        input_shape(p.problem)[a] == output_shape(p.problem)[a] &&
        input_shape(p.problem)[a] == p.problem.shape[a])
      axes.push_back(a);
  const ScheduleRequest request = p.request();
  const int computing = request.computing_ranks > 0 ? request.computing_ranks : p.ranks;
  if (axes.size() < 2 || p.problem.between != Between::none || (p.ranks > 1 && computing == 1) ||
      !dice.chance(0.3))
    return;
  const int last = axes.size() - 1, a = axes[dice.range(0, last)], b = axes[dice.range(0, last)];
  constexpr Index most = 400;  // points, of which direct sums are taken
  if (a != b && p.problem.shape[a] * p.problem.shape[b] <= most) p.problem.line = {a, b};
}

/// An r2c axis and another one as a real line, where that can be.
void draw_real_line(RandomProblem& p) {
  Dice dice(p.seed + 56);
  Problem& problem = p.problem;
  const Shape modes = output_shape(problem.shape, problem.transforms);
  int real = -1;
  AxisVector<int> others;
  for (int a = 0; a < problem.shape.size(); ++a) {
    if (points_of(problem)[a] != problem.shape[a] || modes_of(problem)[a] != modes[a]) continue;
    if (problem.transforms[a] == Transform::r2c) real = a;
    if (problem.transforms[a] == Transform::c2c) others.push_back(a);
  }
  const ScheduleRequest request = p.request();
  const int computing = request.computing_ranks > 0 ? request.computing_ranks : p.ranks;
  constexpr Index most = 400;  // points, of which direct sums are taken
  if (real < 0 || others.empty() || !problem.line.empty() || problem.between != Between::none ||
      (p.ranks > 1 && computing == 1) || !dice.chance(0.5))
    return;
  const int other = others[dice.range(0, others.size() - 1)];
  if (problem.shape[real] * problem.shape[other] > most) return;
  const auto complex = std::count(problem.transforms.begin(), problem.transforms.end(), Transform::c2c);
  const bool second = complex == 1 && problem.shape.size() + 2 <= max_axes && dice.chance(0.7);
  problem.line = second ? AxisVector<int>{other, real} : AxisVector<int>{real, other};
}

/// Fewer modes or points than transforms have, along some axes.
void draw_lengths(RandomProblem& p) {
  Dice dice(p.seed + 66);
  const auto shortened = [&](Shape lengths) {
    for (int a = 0; a < lengths.size(); ++a)
      if (p.problem.transforms[a] != Transform::none && dice.chance(0.6))
        lengths[a] =
            dice.range(static_cast<int>(divided_up<Index>(lengths[a], 2)), static_cast<int>(lengths[a]));
    return lengths;
  };
  if (dice.chance(0.25)) p.problem.modes = shortened(output_shape(p.problem));
  if (dice.chance(0.2)) p.problem.points = shortened(p.problem.shape);
  p.problem.modes_nyquist = dice.pick({ModesNyquist::shared, ModesNyquist::odd, ModesNyquist::single});
}

/// An operator between two transforms.
void draw_between(RandomProblem& p) {
  Dice dice(p.seed + 88);
  if (!dice.chance(0.2)) return;
  const auto transformed = [](Transform t) { return t != Transform::none; };
  if (std::none_of(p.problem.transforms.begin(), p.problem.transforms.end(), transformed)) return;
  p.problem.between = dice.pick({Between::modes, Between::points});
  if (p.problem.shape.size() < max_axes && dice.chance(0.5)) p.problem.results = dice.range(1, 4);
}

/// Columns of modes in the place of what was drawn of them.
void draw_columns(RandomProblem& p) {
  Dice dice(p.seed + 44);
  Problem& problem = p.problem;
  if (problem.shape.size() == 1) problem.shape.push_back(dice.range(1, 9));
  const int ndim = problem.shape.size();
  problem.transforms = AxisVector<Transform>(ndim, Transform::c2c);
  problem.element = dice.chance(0.4) ? Element::real : Element::complex;
  if (problem.element == Element::real) problem.transforms[ndim - 1] = Transform::r2c;
  if (ndim == max_axes) problem.batch = 1;
  problem.modes = problem.points = {};
  problem.in_place = false;
  problem.between = dice.chance(0.3) ? Between::points : Between::none;
  problem.results = problem.between == Between::none || ndim == max_axes ? 0 : dice.range(0, 3);
  p.columns = random_columns(problem, p.ranks, p.seed);
}

/// Columns have no boxes, nor layouts of their own.
void drop_boxes(RandomProblem& p) {
  const std::vector<RandomProblem::Memory> dense(static_cast<std::size_t>(p.ranks));
  p.problem.output = Distribution::columns(p.columns[0]);
  p.output_boxes.clear();
  p.memories[1] = dense;
  if (p.problem.between == Between::none) return;
  p.problem.input = p.problem.output;
  p.input_boxes.clear();
  p.memories[0] = dense;
}

/// Halos, padding and strides, of the ranks alike or each its own.
void draw_memory(Dice& dice, RandomProblem& p) {
  p.memories[0].resize(static_cast<std::size_t>(p.ranks));
  p.memories[1].resize(static_cast<std::size_t>(p.ranks));
  if (dice.chance(0.55)) {
    p.order_free = dice.chance(0.5);
    return;
  }
  using Kind = RandomProblem::Memory::Kind;
  const int ndim = p.problem.shape.size();
  const bool r2c = p.problem.transforms.contains(Transform::r2c) && p.problem.between == Between::none;
  const auto halo = [&](RandomProblem::Memory& m) {
    m.kind = Kind::halo;
    for (int a = 0; a < ndim; ++a) {
      m.lower.push_back(dice.chance(0.5) ? dice.range(0, 2) : 0);
      m.upper.push_back(dice.chance(0.5) ? dice.range(0, 2) : 0);
    }
  };
  for (int r = 0; r < p.ranks; ++r) {
    RandomProblem::Memory& in = p.memories[0][static_cast<std::size_t>(r)];
    RandomProblem::Memory& out = p.memories[1][static_cast<std::size_t>(r)];
    if (p.problem.in_place) {
      if (r2c) {
        in.kind = Kind::r2c_padding;
      } else {
        halo(in);
        out = in;
      }
      continue;
    }
    for (RandomProblem::Memory* m : {&in, &out}) {
      const int kind = dice.range(0, 3);
      if (kind == 1) halo(*m);
      if (kind == 2) m->kind = has_batch(p.problem) && dice.chance(0.3) ? Kind::interleaved : Kind::strides;
      for (int a = 0; a <= ndim; ++a) m->gaps.push_back(dice.range(0, 3));
      if (kind == 3 && r2c && m == &in) m->kind = Kind::r2c_padding;
    }
  }
  if (!r2c && !p.problem.in_place) return;
  // In place the two sides have to coincide; r2c padding is along the fastest axis.
  Order order = c_order(ndim);
  for (int a = 0; a < ndim; ++a)
    if (p.problem.transforms[a] == Transform::r2c) order = axes_last(order, {a});
  p.input_orders.assign(static_cast<std::size_t>(p.ranks), order);
  p.output_orders = p.input_orders;
}

/// Whatever the exchange makes of layout auto, on the host and on devices.
void draw_parameters(Dice& dice, RandomProblem& p) {
  if (p.options.get("pipeline") == "auto" || !dice.chance(0.8)) return;
  ScheduleRequest request = p.request();
  std::vector<Schedule> schedules;
  for (const int layout : {0, 1, 2}) {
    request.contiguous = layout == 0;
    request.shared_axes_first = layout == 1;
    schedules.push_back(make_schedule(request));
    schedules.push_back(inverse(schedules.back()));
  }
  for (const auto& [name, asked] :
       random_parameters(dice.engine()(), find_pipeline(p.options.get("pipeline")), schedules))
    p.options.set(name, join(asked.values, ","));
}

/// Several machines exchange one message for each pair of them, also where ranks are dealt to them in turn.
/// Of the seed, so that problems stay what they were.
void draw_node(RandomProblem& p) {
  if (p.seed % 2 == 0) p.exchanges.back() = "node";
  if (p.seed % 3 == 0) p.node_ranks = -2;
}

void draw_exchanges(Dice& dice, RandomProblem& p, bool mpi) {
  if (mpi) {
    std::vector<std::string> all{"p2pw", "alltoallv", "pairwise", "alltoall", "alltoallw", "ialltoallv"};
    if (!p.user_workspace) all.emplace_back("ring");
    std::shuffle(all.begin(), all.end(), dice.engine());
    p.exchanges = {"p2p", all[0], all[1]};
    if (!p.user_workspace && dice.chance(0.4)) p.exchanges.emplace_back("direct");
    const auto reshapes = reshape_stages(make_schedule(p.request())).size();
    if (reshapes > 1 && dice.chance(0.4)) {
      std::vector<std::string> mixed;
      for (std::size_t j = 0; j < reshapes; ++j)
        mixed.push_back(dice.chance(0.4) ? "p2p"
                        : !p.user_workspace && dice.chance(0.3)
                            ? "direct"
                            : all[static_cast<std::size_t>(dice.range(0, static_cast<int>(all.size()) - 1))]);
      p.exchanges.back() = join(mixed, ",");
    }
  } else if (p.user_workspace) {
    p.exchanges = {"copy"};
  } else {
    p.exchanges = {"direct", "copy"};
    const auto reshapes = reshape_stages(make_schedule(p.request())).size();
    if (reshapes == 2 && dice.chance(0.3)) p.exchanges = {"direct", "copy,direct"};
  }
  // What auto picks depends on the exchange; only equal tiles give equal bits.
  if (p.options.get("pipeline") == "auto")
    p.exchanges = {p.exchanges[static_cast<std::size_t>(dice.range(0, 2)) % p.exchanges.size()]};
  // Ranks of other machines are reached by messages.
  if (p.ranks > 2 && p.exchanges.back() == "direct" && dice.chance(0.6))
    p.node_ranks = dice.range(2, p.ranks - 1);
  p.far_pairs = p.node_ranks > 0;
  if (mpi && p.far_pairs) draw_node(p);
}

void draw_options(Dice& dice, RandomProblem& p) {
  Options& o = p.options;
  o.set("check", "collective");
  const int ndim = p.problem.shape.size();
  o.set("decomposition",
        ndim >= 3 ? dice.pick({"auto", "slab", "pencil", "brick"}) : dice.pick({"auto", "slab"}));
  o.set("layout", dice.pick({"auto", "contiguous", "strided"}));
  // Of the seed, so that problems stay what they were.
  o.set("fft_stage", std::vector<std::string>{"auto", "early", "next", "last"}[p.seed / 7 % 4]);
  const int computing = dice.chance(0.2) ? dice.range(1, p.ranks) : p.ranks;
  if (computing < p.ranks || dice.chance(0.05)) o.set("shrink", computing);
  if (ndim >= 3 && o.get("decomposition") != "slab" && dice.chance(0.2)) {
    int rows = dice.range(1, computing);
    while (computing % rows != 0) --rows;
    o.set("grid", std::to_string(rows) + "x" + std::to_string(computing / rows));
  }
  if (dice.chance(0.15)) o.set("threads", dice.range(2, 3));
  if (dice.chance(0.7)) {
    o.set("pipeline", dice.pick({"windowed", "windowed", "th"}));
    if (dice.chance(0.15)) o.set("overlap", "off");
  } else {
    o.set("pipeline", dice.pick({"auto", "sequential", "sequential"}));
  }
  p.user_workspace = dice.chance(0.2);
  if (p.user_workspace) o.set("workspace", "user");
  if (dice.chance(0.35)) o.set("pipeline", dice.pick({"planes", "two-front"}));
  p.by_handle = dice.chance(0.3);
  const bool mkl = environment_value("WEFT_TEST_MKL") == "required";
  if (dice.chance(0.2) && mkl) o.set("fft", "mkl");
}

}  // namespace

std::vector<Box> random_tiling(std::uint64_t seed, const Shape& shape, int ranks) {
  Dice dice(seed);
  std::vector<Box> boxes;
  cut(dice, Box::whole(shape), ranks, boxes);
  std::shuffle(boxes.begin(), boxes.end(), dice.engine());
  return boxes;
}

namespace {

enum class Drawn { any, columns, shared };

/// Ranks that transform one array together, where they can.
void draw_shared(RandomProblem& p) {
  if (!p.user_workspace && not_shared(make_schedule(p.request())).empty())
    p.options.set("pipeline", "shared");
}

/// Such ranks store, on one machine.
void store_only(RandomProblem& p) {
  p.exchanges = {"direct"};
  p.node_ranks = 0;
  p.far_pairs = false;
}

RandomProblem make_problem(std::uint64_t seed, int ranks, bool mpi, Drawn drawn) {
  const bool columns = drawn == Drawn::columns;
  Dice dice(seed * 64 + static_cast<std::uint64_t>(ranks));
  RandomProblem p;
  p.seed = seed;
  p.ranks = ranks;
  p.problem.shape = random_shape(dice, ranks);
  p.problem.precision = dice.chance(0.7) ? Precision::float64 : Precision::float32;
  p.problem.in_place = dice.chance(0.3);
  draw_transforms(dice, p);
  draw_lengths(p);
  draw_between(p);
  if (columns) draw_columns(p);
  draw_distribution(dice, p, true);
  draw_distribution(dice, p, false);
  p.own_box_only = dice.chance(0.5);
  draw_memory(dice, p);
  draw_options(dice, p);
  if (columns) {
    drop_boxes(p);
    p.options.set("grid", "auto");
    p.options.set("fft", "auto");  // the answers have bounds of FFTW
    p.options.set("decomposition", seed % 2 == 0 ? "auto" : "slab");
  }
  check_problem(p.problem, ranks);  // fills in what is natural
  if (!columns) {
    draw_line(p);
    draw_real_line(p);
  }
  if (drawn == Drawn::shared) draw_shared(p);
  draw_parameters(dice, p);
  draw_exchanges(dice, p, mpi);
  if (p.options.get("pipeline") == "shared") store_only(p);
  p.misaligned = dice.chance(0.2);
  p.delays = dice.chance(0.1);
  p.block_bytes = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 700 : 5000;
  p.small_cache = dice.chance(0.4);
  draw_values(p, dice.engine());
  return p;
}

}  // namespace

RandomProblem make_random_problem(std::uint64_t seed, int ranks, bool mpi) {
  return make_problem(seed, ranks, mpi, Drawn::any);
}

RandomProblem make_columns_problem(std::uint64_t seed, int ranks, bool mpi) {
  return make_problem(seed, ranks, mpi, Drawn::columns);
}

RandomProblem make_shared_problem(std::uint64_t seed, int ranks, bool mpi) {
  return make_problem(seed, ranks, mpi, Drawn::shared);
}

int problem_count(int standard) {
  const auto value = environment_value("WEFT_TEST_PROBLEMS");
  if (value) return std::stoi(*value);
  return std::max(1, standard / WEFT_PROBLEMS_DIVIDED_BY);
}

std::uint64_t first_seed() {
  const auto value = environment_value("WEFT_TEST_SEED");
  return value ? std::stoull(*value) : 1;
}

}  // namespace weft::test
