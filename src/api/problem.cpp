#include "weft/problem.hpp"
#include "weft/error.hpp"

#include <utility>

namespace weft {

Distribution Distribution::slab(int axis) {
  return {Kind::slab, axis};
}

Distribution Distribution::pencil(int local_axis) {
  return {Kind::pencil, local_axis};
}

Distribution Distribution::brick() {
  return {Kind::brick};
}

Distribution Distribution::grid(AxisVector<int> parts) {
  return {Kind::grid, 0, parts};
}

Distribution Distribution::boxes(std::vector<Box> of_all_ranks) {
  return {Kind::boxes, 0, {}, std::move(of_all_ranks)};
}

Distribution Distribution::box(Box of_this_rank) {
  return {Kind::box, 0, {}, {of_this_rank}};
}

Distribution Distribution::fastest() {
  return {Kind::fastest};
}

Distribution Distribution::columns(std::vector<ModeColumn> of_this_rank) {
  Distribution d{Kind::columns};
  d.columns_ = std::move(of_this_rank);
  return d;
}

Distribution Distribution::sphere(double radius) {
  Distribution d{Kind::sphere};
  d.radius_ = radius;
  return d;
}

Distribution Distribution::with_order(Order order) const {
  Distribution d = *this;
  d.order_ = order;
  return d;
}

Distribution Distribution::with_strides(Strides strides) const {
  Distribution d = *this;
  d.strides_ = strides;
  return d;
}

Distribution Distribution::with_halo(Shape lower, Shape upper) const {
  Distribution d = *this;
  d.halo_lower_ = lower;
  d.halo_upper_ = upper;
  return d;
}

Shape line_shape(Index n) {
  Index first = 1;
  for (Index f = 2; f <= n / f; ++f)
    if (n % f == 0) first = f;
  if (first == 1)
    throw Error("line shape", std::to_string(n) + " points",
                "a length of at least 4 points that is no prime, so that it is a product of two");
  return {first, n / first};
}

Distribution Distribution::with_r2c_padding() const {
  Distribution d = *this;
  d.r2c_padding_ = true;
  return d;
}

}  // namespace weft
