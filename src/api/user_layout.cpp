#include "api/user_layout.hpp"

#include <limits>

#include "base/text.hpp"
#include "geometry/transform.hpp"

namespace weft {

namespace {

/// The axis that is r2c from input to output.
int r2c_axis(const Problem& problem) {
  if (problem.between != Between::none) return -1;
  for (int a = 0; a < problem.transforms.size(); ++a)
    if (problem.transforms[a] == Transform::r2c) return a;
  return -1;
}

bool has_halo(const Distribution& d) {
  return !d.halo_lower().empty() || !d.halo_upper().empty();
}

bool has_own_layout(const Distribution& d) {
  return !d.strides().empty() || has_halo(d) || d.r2c_padding();
}

/// The extents of the memory around a box, and where the box begins in it.
Layout dense_around(const Problem& problem, const Distribution& d, const Box& box, const Order& order) {
  Shape room = box.extents();
  if (box.empty()) return dense_layout(room, order);
  for (int a = 0; a < d.halo_lower().size(); ++a) room[a] += d.halo_lower()[a] + d.halo_upper()[a];
  const int real = r2c_axis(problem);
  if (d.r2c_padding() && order.back() != real)
    throw Error("plan: input padding", "an r2c axis " + std::to_string(real) + " that is not the fastest",
                "a memory order that ends with it");
  if (d.r2c_padding()) room[real] = 2 * (room[real] / 2 + 1);
  Index points = 1;
  for (Index n : room)
    if (__builtin_mul_overflow(points, n, &points) || points > std::numeric_limits<Index>::max() / 64)
      throw Error("plan: halo", by_x(room) + " points with the halo",
                  "an array whose bytes can be counted in 63 bits");
  Layout layout = dense_layout(room, order);
  for (int a = 0; a < d.halo_lower().size(); ++a) layout.offset += d.halo_lower()[a] * layout.strides[a];
  return layout;
}

}  // namespace

void check_memory(const Distribution& d, const Problem& problem, bool is_input) {
  const std::string what = std::string("plan: ") + (is_input ? "input" : "output");
  const int ndim = problem.shape.size();
  const std::string per_axis = "one number per axis, " + std::to_string(ndim);
  if (!d.order().empty()) check_order(d.order(), ndim);
  const int kinds = (d.strides().empty() ? 0 : 1) + (has_halo(d) ? 1 : 0) + (d.r2c_padding() ? 1 : 0);
  if (kinds > 1 || (!d.strides().empty() && !d.order().empty()))
    throw Error(what + " memory", "strides, an order, a halo or a padding at the same time",
                "strides alone, or a memory order with one of halo and padding");
  if (!d.strides().empty() && d.strides().size() != ndim)
    throw Error(what + " strides", "{" + join(d.strides(), ",") + "}", per_axis);
  for (const Shape* halo : {&d.halo_lower(), &d.halo_upper()}) {
    if (!has_halo(d)) break;
    if (halo->size() != ndim) throw Error(what + " halo", "{" + join(*halo, ",") + "}", per_axis);
    for (Index n : *halo)
      if (n < 0 || n > std::numeric_limits<int>::max())
        throw Error(what + " halo", "{" + join(*halo, ",") + "}", "no negative width, and less than 2^31");
  }
  const int real = r2c_axis(problem);
  if (d.r2c_padding() && (!is_input || real < 0))
    throw Error(what + " padding", "r2c padding",
                "the input of a problem with an r2c axis and nothing between (Problem::between)");
  const Index distance = is_input ? problem.input_distance : problem.output_distance;
  if (distance < 0)
    throw Error(what + " distance", std::to_string(distance), "0, or a positive number of elements");
}

Layout user_layout(const Problem& problem, bool is_input, const Box& box, const Order& order) {
  const Distribution& d = is_input ? problem.input : problem.output;
  const char* what = is_input ? "input" : "output";
  Shape extents = box.extents();
  Layout layout;
  if (d.strides().empty()) {
    layout = dense_around(problem, d, box, order);
  } else {
    layout.strides = d.strides();
    check_strides(extents, layout.strides, what);
    layout.count = box.empty() ? 0 : span_of(extents, layout.strides);
  }
  if (has_batch(problem)) {
    const Index distance = is_input ? problem.input_distance : problem.output_distance;
    const Index arrays = arrays_of(problem, is_input ? Direction::forward : Direction::backward);
    extents.push_back(arrays);
    layout.strides.push_back(distance > 0 ? distance : std::max<Index>(layout.count, 1));
    check_strides(extents, layout.strides, what);
    if (layout.count > 0) layout.count += (arrays - 1) * layout.strides.back();
  }
  if (splits_line(problem)) layout.strides.push_back(1);
  return layout;
}

void check_in_place(const Problem& problem, const Box& in_box, const Layout& in, const Box& out_box,
                    const Layout& out) {
  if (!problem.in_place || in_box.empty()) return;
  const int real = r2c_axis(problem);
  const bool own_input = has_own_layout(problem.input);
  const bool whole_lines = real < 0 || in_box.extent(real) == problem.shape[real];
  if (real >= 0 && whole_lines && own_input && in.strides[real] == 1) {
    const Index n = in_box.extent(real), needed = 2 * (n / 2 + 1);
    for (int a = 0; a < in_box.ndim(); ++a)
      if (a != real && in_box.extent(a) > 1 && in.strides[a] < needed)
        throw Error(
            "plan: in place",
            "lines of " + std::to_string(n) + " real numbers with room for " + std::to_string(in.strides[a]),
            "room for 2(n/2+1) = " + std::to_string(needed) + " along the r2c axis");
  }
  const bool whole_modes = real < 0 || out_box.extent(real) == problem.shape[real] / 2 + 1;
  if (!whole_lines || !whole_modes || (!own_input && !has_own_layout(problem.output))) return;
  const Index in_unit = problem.element == Element::real ? 1 : 2;
  const Index out_unit = problem.element == Element::real && real < 0 ? 1 : 2;
  for (int a = 0; a < in_box.ndim(); ++a)
    if (a != real && (in_box.lo[a] != out_box.lo[a] || in_box.hi[a] != out_box.hi[a])) return;
  bool alike = in.offset * in_unit == out.offset * out_unit;
  const bool both = arrays_of(problem, Direction::forward) > 1 && arrays_of(problem, Direction::backward) > 1;
  const int axes = in_box.ndim() + (has_batch(problem) ? 1 : 0);
  for (int a = 0; a < axes; ++a)
    if (a != real && (a == in_box.ndim() ? both : in_box.extent(a) > 1))
      alike = alike && in.strides[a] * in_unit == out.strides[a] * out_unit;
  if (!alike)
    throw Error("plan: in place",
                "input strides {" + join(in.strides, ",") + "} and output strides {" +
                    join(out.strides, ",") + "} of the same box",
                "layouts that coincide in bytes along every axis but the r2c one");
}

}  // namespace weft
