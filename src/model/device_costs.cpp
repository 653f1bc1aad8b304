#include "model/device_costs.hpp"

#include <algorithm>
#include <utility>

namespace weft {

namespace {

/// The side whose strides tell how points lie.
Index stride_of(const FftCall& call, int axis) {
  return std::max(call.from.strides[axis], call.to.strides[axis]);
}

/// Whether an axis that is longer than a point and is not transformed has strides between these.
bool loops_between(const FftCall& call, Index least, Index most) {
  for (int a = 0; a < call.extents.size(); ++a)
    if (call.extents[a] > 1 && !call.axes.contains(a) && stride_of(call, a) > least &&
        stride_of(call, a) < most)
      return true;
  return false;
}

/// The two fastest axes of a call, if both are transformed in one piece: the first is contiguous, and nothing
/// lies between them.
std::pair<int, int> plane_of(const FftCall& call) {
  std::pair<int, int> fastest{-1, -1};
  const auto is_faster = [&](int a, int b) { return b < 0 || stride_of(call, a) < stride_of(call, b); };
  for (const int a : call.axes) {
    if (call.extents[a] < 2) continue;
    if (is_faster(a, fastest.first)) {
      fastest = {a, fastest.first};
    } else if (is_faster(a, fastest.second)) {
      fastest.second = a;
    }
  }
  if (fastest.second < 0 || stride_of(call, fastest.first) != 1 ||
      loops_between(call, 1, stride_of(call, fastest.second)))
    return {-1, -1};
  return fastest;
}

/// Of an axis that is no part of a plane.
PointsLie shape_alone(const FftCall& call, int axis) {
  constexpr Index beyond_any = Index{1} << 62;
  const Index stride = stride_of(call, axis);
  if (stride == 1) return PointsLie::lines;
  // Axes none of which is contiguous are transformed one after the other (fft/calls/cufft_calls.hpp).
  const auto transforms = [&](int a) { return call.extents[a] > 1; };
  const bool alone = std::none_of(call.axes.begin(), call.axes.end(),
                                  [&](int a) { return transforms(a) && stride_of(call, a) == 1; });
  const bool others_outside = std::any_of(call.axes.begin(), call.axes.end(), [&](int a) {
    return transforms(a) && stride_of(call, a) > stride;
  });
  const bool is_middle =
      loops_between(call, 0, stride) && (others_outside || loops_between(call, stride, beyond_any));
  return alone && is_middle ? PointsLie::middle : PointsLie::columns;
}

}  // namespace

int kernels_of(const FftCall& call) {
  return std::max(1, transformed_axes(call));
}

DeviceCosts::DeviceCosts(const DeviceDescription& device, const CostSetting& setting, bool in_graph)
    : device_(device), ffts_(device, setting.library, setting.real_bytes), in_graph_(in_graph) {}

double DeviceCosts::byte_seconds(double distance) const {
  return 1 / device_.copy_alone.at(std::max(distance, 1.0));
}

/// Of all lines along one axis. Figures of planes are of both axes together.
double DeviceCosts::pass_seconds(const FftCall& call, int axis, PointsLie shape, double share) const {
  const Index n = call.extents[axis];
  const FftSpeeds::Lines& speed = ffts_.lines(shape, false, n);
  const FftPoints points(call, transformed_axes(call) > 1, device_.ratios);
  const double part = shape == PointsLie::planes ? 0.5 : 1;
  const double saved = in_graph_ ? device_.kernel_s - device_.node_s : 0;
  return part * points.seconds(speed.in_cache_s(n), share * speed.in_memory_s(n)) +
         std::max(0.0, part * speed.call_s(n) - saved);
}

double DeviceCosts::fft_seconds(const FftCall& call, const Distances& distances) const {
  const auto bytes = [](const Box& box, int element) { return static_cast<double>(box.count()) * element; };
  const double from = bytes(call.from_box, call.from_bytes), to = bytes(call.to_box, call.to_bytes);
  const bool in_place = call.from.space == call.to.space && call.from.offset == call.to.offset;
  const double first = share_of_memory(distances.from);
  double share = in_place ? first : (first + share_of_memory(distances.to)) / 2;
  // A pass goes over all of the data before the next one begins.
  const double again = share_of_memory(in_place ? to : from + to);
  const std::pair<int, int> plane = plane_of(call);
  double seconds = 0;
  for (int i = call.axes.size() - 1; i >= 0; --i) {
    const int axis = call.axes[i];
    if (call.extents[axis] < 2) continue;
    const bool in_plane = axis == plane.first || axis == plane.second;
    seconds += pass_seconds(call, axis, in_plane ? PointsLie::planes : shape_alone(call, axis), share);
    share = again;
  }
  if (transformed_axes(call) == 0)
    return kernel_seconds() + from * byte_seconds(distances.from) + to * byte_seconds(distances.to);
  // A pass that scales; and an input that is to be kept, which c2r would destroy, is copied first.
  if (call.scale != 1 && call.r2r.empty()) seconds += kernel_seconds() + 2 * to * byte_seconds(2 * to);
  if (call.real_axis >= 0 && call.direction == Direction::backward && !call.may_destroy_input)
    seconds += kernel_seconds() + 2 * from * byte_seconds(std::max(distances.from, 2 * from));
  return seconds;
}

double DeviceCosts::read_seconds(const CopyCall& call, double distance) const {
  if (call.coded.codec)
    return static_cast<double>(call.box.count() * call.element_bytes) /
           codec_bytes_per_s(device_.codecs, call);
  return static_cast<double>(bytes_read(call)) * byte_seconds(distance) /
         device_.share_by_run.at(static_cast<double>(contiguous_bytes(call)));
}

double DeviceCosts::copy_seconds(const CopyCall& call, const Distances& distances) const {
  const double read = read_seconds(call, distances.from);
  if (call.coded.codec) return read;
  return read + static_cast<double>(bytes_written(call)) * byte_seconds(distances.to) /
                    device_.share_by_run.at(static_cast<double>(contiguous_bytes(call)));
}

}  // namespace weft
