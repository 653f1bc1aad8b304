#include "weft/problem.hpp"

#include <utility>

namespace weft {

Distribution Distribution::slab(int axis) {
  Distribution d;
  d.kind_ = Kind::slab;
  d.axis_ = axis;
  return d;
}

Distribution Distribution::pencil(int local_axis) {
  Distribution d;
  d.kind_ = Kind::pencil;
  d.axis_ = local_axis;
  return d;
}

Distribution Distribution::brick() {
  Distribution d;
  d.kind_ = Kind::brick;
  return d;
}

Distribution Distribution::grid(AxisVector<int> parts) {
  Distribution d;
  d.kind_ = Kind::grid;
  d.parts_ = parts;
  return d;
}

Distribution Distribution::boxes(std::vector<Box> of_all_ranks) {
  Distribution d;
  d.kind_ = Kind::boxes;
  d.boxes_ = std::move(of_all_ranks);
  return d;
}

Distribution Distribution::box(Box of_this_rank) {
  Distribution d;
  d.kind_ = Kind::box;
  d.boxes_ = {of_this_rank};
  return d;
}

Distribution Distribution::fastest() {
  Distribution d;
  d.kind_ = Kind::fastest;
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

Distribution Distribution::with_r2c_padding() const {
  Distribution d = *this;
  d.r2c_padding_ = true;
  return d;
}

}  // namespace weft
