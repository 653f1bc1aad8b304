#include "geometry/layout.hpp"

#include <algorithm>
#include <limits>

#include "base/text.hpp"

namespace weft {

Order c_order(int ndim) {
  Order order(ndim, 0);
  for (int a = 0; a < ndim; ++a) order[a] = a;
  return order;
}

void check_order(const Order& order, int ndim) {
  bool good = order.size() == ndim;
  for (int a = 0; good && a < ndim; ++a) good = order.contains(a);
  if (!good)
    throw Error("plan", "memory order {" + join(order, ",") + "}",
                "each of the axes 0.." + std::to_string(ndim - 1) + " once, slowest first");
}

Strides dense_strides(const Shape& extents, const Order& order) {
  Strides strides(extents.size(), 0);
  Index stride = 1;
  for (int i = order.size() - 1; i >= 0; --i) {
    strides[order[i]] = stride;
    stride *= extents[order[i]];
  }
  return strides;
}

Layout dense_layout(const Shape& extents, const Order& order) {
  Index count = 1;
  for (Index n : extents) count *= n;
  return {dense_strides(extents, order), 0, count};
}

Order order_of(const Strides& strides) {
  Order order = c_order(strides.size());
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return strides[a] > strides[b]; });
  return order;
}

namespace {
/// The most elements whose bytes (16 for each) and sums of them fit an `Index`.
constexpr Index most_elements = std::numeric_limits<Index>::max() / 64;
}  // namespace

void check_strides(const Shape& extents, const Strides& strides, const std::string& what) {
  const std::string got = "strides {" + join(strides, ",") + "} for " + by_x(extents) + " points";
  if (extents.contains(0)) return;  // strides of nothing, which may be zero
  const Order order = order_of(strides);
  Index reach = 1;  // elements from the first to one past the last, of the axes seen so far
  for (int i = order.size() - 1; i >= 0; --i) {
    const int a = order[i];
    if (strides[a] < 1) throw Error("plan: " + what, got, "positive strides");
    if (extents[a] == 1) continue;
    Index span = 0;
    if (__builtin_mul_overflow(extents[a] - 1, strides[a], &span) ||
        __builtin_add_overflow(reach, span, &span) || span > most_elements)
      throw Error("plan: " + what, got, "an array whose bytes can be counted in 63 bits");
    if (strides[a] < reach)
      throw Error(
          "plan: " + what, got,
          "strides without overlap: along axis " + std::to_string(a) + " at least " + std::to_string(reach));
    reach = span;
  }
}

Index span_of(const Shape& extents, const Strides& strides) {
  Index last = 0;
  for (int a = 0; a < extents.size(); ++a) {
    if (extents[a] <= 0) return 0;
    last += (extents[a] - 1) * strides[a];
  }
  return last + 1;
}

Order axes_last(const Order& order, const AxisVector<int>& axes) {
  Order result = order;
  std::stable_partition(result.begin(), result.end(), [&](int a) { return !axes.contains(a); });
  return result;
}

Order axis_first(const Order& order, int axis) {
  Order result{axis};
  for (int a : order)
    if (a != axis) result.push_back(a);
  return result;
}

}  // namespace weft
