#include "model/costs.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>

#include "weft/error.hpp"

namespace weft {

namespace {

double mixed(double alone, double together, double share) {
  return alone * std::pow(together / alone, share);
}

bool in_place(const FftCall& call) {
  return call.from.space == call.to.space && call.from.offset == call.to.offset;
}

/// Whether points of a line lie so many bytes apart, or an odd multiple of more, that they meet in few sets
/// of the cache, which has `period` bytes for each way.
bool meets(const FftCall& call, int axis, Index least, Index period) {
  const Index stride = call.to.strides[axis] * call.to_bytes;
  return call.to.strides[axis] > 1 && std::gcd(stride, period) >= least;
}
bool rows_meet(const FftCall& call, int axis) {
  return meets(call, axis, 1024, 4096);
}
bool columns_meet(const FftCall& call, int axis) {
  return meets(call, axis, 16 << 10, 64 << 10);
}

/// The shape whose figures tell.
PointsLie shape_of(const FftCall& call, int axis, bool several) {
  if (several && !columns_meet(call, axis)) return PointsLie::planes;
  if (call.from.strides[axis] == 1 && call.to.strides[axis] == 1) return PointsLie::lines;
  // Columns that meet in the first-level cache alone are those of planes.
  return rows_meet(call, axis) && !columns_meet(call, axis) ? PointsLie::planes : PointsLie::columns;
}

/// Whether rows of a copy begin anywhere in lines of the cache.
bool is_unaligned(const CopyCall& call) {
  constexpr Index cache_line = 64;
  for (int a = 0; a < call.box.lo.size(); ++a)
    if (call.box.extents()[a] > 1)
      for (const Operand* o : {&call.from, &call.to})
        if (o->strides[a] > 1 && o->strides[a] * call.element_bytes % cache_line != 0) return true;
  return false;
}

}  // namespace

Index contiguous_bytes(const CopyCall& call) {
  const Shape extents = call.box.extents();
  Index run = 1;
  for (bool longer = true; longer;) {
    longer = false;
    for (int a = 0; a < extents.size() && !longer; ++a)
      if (extents[a] > 1 && call.from.strides[a] == run && call.to.strides[a] == run) {
        run *= extents[a];
        longer = true;
      }
  }
  return run * call.element_bytes;
}

double FftPoints::of(const FftCall& call) {
  double points = 1;
  for (const Index n : call.extents) points *= static_cast<double>(n);
  return points;
}

FftPoints::FftPoints(const FftCall& call, bool several, const TransformRatios& ratios) : points(of(call)) {
  const bool real = call.real_axis >= 0 || call.resized.contains(Transform::r2c);
  const bool r2r =
      !call.r2r.empty() ||
      (!call.resized.empty() && std::all_of(call.resized.begin(), call.resized.end(),
                                            [](Transform t) { return is_r2r(t) || t == Transform::none; }));
  const bool reals = call.element != Element::complex;
  work = real ? (several ? ratios.real_planes : ratios.real) : r2r ? ratios.r2r * (reals ? 1 : 2) : 1;
  // Real numbers have half of the bytes of complex ones, and a half spectrum half of the points.
  memory = real || (r2r && reals) ? 0.5 : 1;
}

namespace {
int position(const FftCall& call, int axis) {
  int i = 0;
  while (call.axes[i] != axis) ++i;
  return i;
}

/// Of a call with an operator, whose axes have the batch.
bool is_batch(const FftCall& call, int axis) {
  return !call.resized.empty() && call.resized[position(call, axis)] == Transform::none;
}
}  // namespace

int transformed_axes(const FftCall& call) {
  return static_cast<int>(std::count_if(call.axes.begin(), call.axes.end(),
                                        [&](int a) { return call.extents[a] > 1 && !is_batch(call, a); }));
}

namespace {
/// The share of the modes along an axis that a resized call keeps.
double kept_share(const FftCall& call, int axis) {
  if (call.columns == ColumnsPart::lines) return 1;
  if (call.columns == ColumnsPart::planes) {  // a disc or so, whose bounding box is kept along each axis
    double lines = 1;
    for (const int a : call.axes)
      if (!is_batch(call, a)) lines *= static_cast<double>(call.extents[a]);
    const Box& modes = call.direction == Direction::forward ? call.to_box : call.from_box;
    return std::min(1.0, std::sqrt(static_cast<double>(modes.extent(1)) / lines));
  }
  const bool forward = call.direction == Direction::forward, there_and_back = !call.between.empty();
  const Transform transform = call.resized.empty() ? Transform::none : call.resized[position(call, axis)];
  const bool halved = axis == call.real_axis || transform == Transform::r2c;
  const Index n = call.extents[axis], all = halved ? n / 2 + 1 : n;
  const Index modes = !forward         ? call.from_box.extent(axis)
                      : there_and_back ? call.between[axis]
                                       : call.to_box.extent(axis);
  return static_cast<double>(modes) / static_cast<double>(all);
}
}  // namespace

double memory_share(const Curve& copies, double seconds_of_byte) {
  const double in_cache = 1 / copies.points().front().y, in_memory = 1 / copies.points().back().y;
  if (in_memory <= in_cache) return 0;
  return std::max(0.0, (seconds_of_byte - in_cache) / (in_memory - in_cache));
}

double codec_bytes_per_s(const std::vector<CodecSpeed>& codecs, const CopyCall& call) {
  const std::string name = call.coded.codec.row->name;
  for (const CodecSpeed& c : codecs)
    if (c.real_bytes == call.real_bytes && c.codec == name)
      return call.coded.encodes ? c.encode_bytes_per_s : c.decode_bytes_per_s;
  throw Error("model", "codec " + name, "a machine description with speeds of codecs");
}

Costs::Costs(const MachineDescription& machine, const CostSetting& setting)
    : machine_(machine), setting_(setting), ffts_(machine.processor, setting.library, setting.real_bytes) {
  const ProcessorDescription& p = machine.processor;
  const int busy = std::min(p.cores, setting.ranks_of_machine * setting.threads);
  together_ = p.cores == 1 ? 0 : (busy - 1.0) / (p.cores - 1.0);
}

double Costs::byte_seconds(double distance) const {
  const ProcessorDescription& p = machine_.processor;
  const double bytes = std::max(distance, 1.0);
  return 1 / mixed(p.copy_alone.at(bytes), p.copy_together.at(bytes), together_);
}

/// More than 1 where other ranks compute.
double Costs::share_of_memory(double distance) const {
  return memory_share(machine_.processor.copy_alone, byte_seconds(distance));
}

/// Of all lines along one axis. `share`: how much of a pass through memory it costs.
double Costs::pass_seconds(const FftCall& call, int axis, bool several, double share) const {
  const Index n = call.extents[axis];
  const PointsLie shape = shape_of(call, axis, several);
  const bool meet = shape == PointsLie::planes    ? rows_meet(call, axis)
                    : shape == PointsLie::columns ? columns_meet(call, axis)
                                                  : false;
  const FftSpeeds::Lines& speed = ffts_.lines(shape, meet, n);
  const FftPoints points(call, several, machine_.processor.ratios);
  double work = speed.in_cache_s(n);
  if (shape == PointsLie::planes) {  // whose figures are of rows and columns together
    const double rows = ffts_.lines(PointsLie::lines, false, n).in_cache_s(n);
    work = call.to.strides[axis] == 1 ? rows : std::max(work - rows, rows);
  }
  return points.seconds(work, share * speed.in_memory_s(n));
}

double Costs::fft_seconds(const FftCall& call, const Distances& distances) const {
  const double from = share_of_memory(distances.from);
  const double to = in_place(call) ? from : share_of_memory(distances.to);
  // Several axes of what fits the cache are one pass through memory.
  double unit = std::min(call.from_bytes, call.to_bytes);
  for (const int a : call.axes) unit *= is_batch(call, a) ? 1 : static_cast<double>(call.extents[a]);
  const bool one_pass = unit <= cache_bytes();
  const double again = one_pass ? 0 : share_of_memory(unit);
  const bool several = transformed_axes(call) > 1;
  double seconds = 0, kept = 1;  // of the lines, where axes are cut to their kept modes
  bool first = true;
  for (int i = call.axes.size() - 1; i >= 0; --i) {
    const int axis = call.axes[i];
    if (call.extents[axis] < 2 || is_batch(call, axis)) continue;
    seconds += kept * pass_seconds(call, axis, several, first ? (from + to) / 2 : again);
    kept *= kept_share(call, axis);
    first = false;
  }
  if (!call.between.empty()) seconds *= 2;  // and back
  if (!call.resized.empty()) {              // one more copy in the cache
    const double modes = std::min(static_cast<double>(call.from_box.count()) * call.from_bytes,
                                  static_cast<double>(call.to_box.count()) * call.to_bytes);
    seconds += 2 * modes * byte_seconds(1);
  }
  if (first)
    seconds = FftPoints::of(call) *
              (call.from_bytes * byte_seconds(distances.from) + call.to_bytes * byte_seconds(distances.to));
  return seconds / setting_.threads + operation_seconds();
}

double Costs::copy_seconds(const CopyCall& call, const Distances& distances) const {
  const ProcessorDescription& p = machine_.processor;
  const auto read = static_cast<double>(bytes_read(call)), written = static_cast<double>(bytes_written(call));
  const double bytes_s = read * byte_seconds(distances.from) + written * byte_seconds(distances.to);
  if (call.coded.codec) {
    const auto plain = static_cast<double>(call.box.count() * call.element_bytes);
    const double speed = codec_bytes_per_s(p.codecs, call);
    const double in_cache = (read + written) * byte_seconds(1);
    return (plain / speed + std::max(0.0, bytes_s - in_cache)) / setting_.threads + operation_seconds();
  }
  const auto run = static_cast<double>(contiguous_bytes(call));
  const double share = std::min(1.0, share_of_memory(std::max(distances.from, distances.to)));
  const double in_cache = p.share_by_run_in_cache.at(run);
  const double in_memory = (is_unaligned(call) ? p.share_by_run_unaligned : p.share_by_run).at(run);
  const double of_copy = mixed(in_cache, in_memory, share);
  return bytes_s / of_copy / setting_.threads + operation_seconds();
}

}  // namespace weft
