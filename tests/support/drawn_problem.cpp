// What a random problem is once it has been drawn: for a rank, for the planner of schedules, for a reader.
#include <algorithm>

#include "api/option_table.hpp"
#include "api/problem_check.hpp"
#include "base/text.hpp"
#include "design/rules/rules.hpp"
#include "geometry/layout.hpp"
#include "geometry/mode_columns.hpp"
#include "geometry/transform.hpp"
#include "support/mode_columns.hpp"
#include "support/random_problem.hpp"

namespace weft::test {

namespace {

/// Strides for a box of these extents, with gaps.
Strides gapped_strides(const Shape& extents, const Order& order, const std::vector<Index>& gaps,
                       Index first) {
  Strides strides(extents.size(), 0);
  Index next = first * (1 + gaps[0] / 3);
  for (int i = order.size() - 1; i >= 0; --i) {
    strides[order[i]] = next;
    next = next * std::max<Index>(extents[order[i]], 1) + first * gaps[static_cast<std::size_t>(i) + 1];
  }
  return strides;
}

}  // namespace

Problem RandomProblem::of(int rank) const {
  Problem mine = problem;
  const auto r = static_cast<std::size_t>(rank);
  const auto tiles = request();
  const auto side = [&](Distribution& d, Index& distance, const std::vector<Box>& boxes, const Order& order,
                        const Memory& memory, const TilingPtr& tiling, Direction from) {
    const Index arrays = arrays_of(problem, from);
    if (!boxes.empty()) d = own_box_only ? Distribution::box(boxes[r]) : Distribution::boxes(boxes);
    const bool strides = memory.kind == Memory::Kind::strides,
               mixed = memory.kind == Memory::Kind::interleaved;
    if ((strides || mixed) && tiling) {
      const Shape all = tiling->box(rank).extents();
      const Shape extents = Shape::from(all.begin(), all.begin() + problem.shape.size());
      const Strides s = gapped_strides(extents, order, memory.gaps, mixed ? arrays : 1);
      distance = mixed ? 1 : has_batch(problem) ? span_of(extents, s) + memory.gaps[0] : 0;
      d = d.with_strides(s);
      return;
    }
    if (!order_free || d.kind() != Distribution::Kind::fastest) d = d.with_order(order);
    if (memory.kind == Memory::Kind::halo) d = d.with_halo(memory.lower, memory.upper);
    if (memory.kind == Memory::Kind::r2c_padding) d = d.with_r2c_padding();
  };
  const bool in_columns = !columns.empty() && problem.between == Between::points;
  if (!in_columns)
    side(mine.input, mine.input_distance, input_boxes, input_orders[r], memories[0][r], tiles.input,
         Direction::forward);
  if (columns.empty())
    side(mine.output, mine.output_distance, output_boxes, output_orders[r], memories[1][r], tiles.output,
         Direction::backward);
  if (!columns.empty()) mine.output = Distribution::columns(columns[r]);
  if (in_columns) mine.input = mine.output;
  return mine;
}

ScheduleRequest RandomProblem::request(bool tiled_instead) const {
  ScheduleRequest r;
  r.shape = problem.shape;
  r.transforms = problem.transforms;
  r.line = problem.line;
  r.points = problem.points;
  r.modes = problem.modes;
  r.nyquist = problem.modes_nyquist;
  r.between = problem.between;
  r.results = arrays_of(problem, Direction::backward);
  r.element = *problem.element;
  r.ranks = ranks;
  const auto side = [&](const std::vector<Box>& boxes, const Distribution& named, const Shape& shape,
                        std::uint64_t salt) -> TilingPtr {
    if (boxes.empty() && !tiled_instead) return named_tiling(named, shape, ranks, "either");
    return std::make_shared<const Tiling>(
        Tiling::from_boxes(shape, boxes.empty() ? random_tiling(seed + salt, shape, ranks) : boxes));
  };
  if (!columns.empty())
    r.columns = {
        std::make_shared<const ModeColumns>(make_columns(problem.shape, problem.transforms, columns))};
  const bool in_columns = r.columns && problem.between == Between::points;
  if (!in_columns) r.input = side(input_boxes, problem.input, input_shape(problem), 1000);
  if (!r.columns) r.output = side(output_boxes, problem.output, output_shape(problem), 2000);
  const bool any = order_free && !tiled_instead;
  if (!in_columns && (!any || r.input)) r.input_orders = input_orders;
  if (!r.columns && (!any || r.output)) r.output_orders = output_orders;
  apply_schedule_wishes(r, wishes_of(options));
  r.contiguous = options.get("layout") != "strided";
  if (has_batch(problem)) add_batch(r, problem.batch);
  if (splits_line(problem)) add_halves(r);
  return r;
}

std::string RandomProblem::describe() const {
  std::string text = "seed " + std::to_string(seed) + " on " + std::to_string(ranks) + " ranks: ";
  text += join(weft::describe(of(0)), "; ") + "; " + join(weft::describe(options), "; ");
  text += user_workspace ? "; user workspace" : "";
  text += misaligned ? "; misaligned" : "";
  text += by_handle ? "; by handle" : "";
  text += small_cache ? "; small cache" : "";
  text += "; graph " + graph + "; puts " + puts;
  if (node_ranks > 0) text += "; machines of " + std::to_string(node_ranks) + " ranks";
  if (node_ranks < 0) text += "; ranks in turn on " + std::to_string(-node_ranks) + " machines";
  if (reach > 0) text += "; devices that reach each other in sets of " + std::to_string(reach);
  text += "; exchanges " + join(exchanges, " ");
  for (int r = 0; r < ranks; ++r) {
    const Problem mine = of(r);
    for (const Distribution* d : {&mine.input, &mine.output})
      text += (d == &mine.input ? " | " : " > ") + std::string("strides {") + join(d->strides(), ",") +
              "} halo {" + join(d->halo_lower(), ",") + "}{" + join(d->halo_upper(), ",") + "}" +
              (d->r2c_padding() ? " padded" : "");
  }
  for (const Box& b : input_boxes) text += " in" + to_string(b);
  for (const Box& b : output_boxes) text += " out" + to_string(b);
  for (const Order& o : input_orders) text += " {" + join(o, ",") + "}";
  for (const Order& o : output_orders) text += " {" + join(o, ",") + "}";
  return text;
}

}  // namespace weft::test
