#include "geometry/layout.hpp"

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

Index span_of(const Shape& extents, const Strides& strides) {
  Index last = 0;
  for (int a = 0; a < extents.size(); ++a) {
    if (extents[a] <= 0) return 0;
    last += (extents[a] - 1) * strides[a];
  }
  return last + 1;
}

Order axes_last(const Order& order, const AxisVector<int>& axes) {
  Order result;
  for (int a : order)
    if (!axes.contains(a)) result.push_back(a);
  for (int a : order)
    if (axes.contains(a)) result.push_back(a);
  return result;
}

Order axis_first(const Order& order, int axis) {
  Order result{axis};
  for (int a : order)
    if (a != axis) result.push_back(a);
  return result;
}

}  // namespace weft
