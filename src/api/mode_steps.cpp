#include "api/mode_steps.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"
#include "device/device.hpp"

namespace weft {

AxisWaves waves_of_axis(const std::vector<double>& k, const std::vector<double>& without_nyquist,
                        double unit) {
  AxisWaves w;
  const auto n = static_cast<Index>(k.size());
  w.split = n;
  w.base = k.empty() ? 0 : k.front();
  w.unit = n > 1 && k[1] == k[0] ? 0 : unit;  // an axis that is not transformed has zeros alone
  for (Index i = 0; i < n; ++i) {
    const double here = at(k, i);
    if (i > 0 && here < at(k, i - 1) && w.split == n) {
      w.split = i;
      w.wrap = i - static_cast<Index>(here);
    }
    if (here != at(without_nyquist, i)) w.nyquist = i;
  }
  return w;
}

void enqueue_map(const Block& block, const MapModes& by_axis, const void* array,
                 const Strides& array_strides) {
  MapModes step = by_axis;
  step.reals = block.element == Element::real;
  step.real_bytes = block.precision == Precision::float64 ? 8 : 4;
  step.fields = block.fields;
  step.field_stride = block.field_stride;
  step.loops = {};
  const int ndim = block.box.ndim();
  AxisVector<int> axes;
  for (int a = 0; a < ndim; ++a) axes.push_back(a);
  std::sort(axes.begin(), axes.end(), [&](int a, int b) {  // stable_sort would allocate
    // Along an axis of one element the stride says nothing.
    const bool one = block.box.extent(a) == 1, other = block.box.extent(b) == 1;
    if (one != other) return other;
    return block.strides[a] != block.strides[b] ? block.strides[a] < block.strides[b] : a < b;
  });
  for (int i = 0; i < ndim; ++i) {
    const int a = axes[i];
    step.loops.add({block.box.extent(a), block.strides[a], array == nullptr ? 0 : array_strides[a]});
    at(step.component, i) = at(by_axis.component, a);
    at(step.first, i) = block.box.lo[a];
    at(step.waves, i) = at(by_axis.waves, a);
    at(step.distance, i) = at(by_axis.distance, a);
  }
  block.queue->elements(static_cast<std::byte*>(block.data),
                        static_cast<std::byte*>(const_cast<void*>(array)), step);
}

}  // namespace weft
