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

/// Points of the transforms of a call: complex ones, or real numbers of real transforms.
double points_of(const FftCall& call) {
  double points = 1;
  for (const Index n : call.extents) points *= static_cast<double>(n);
  return points;
}

double log2_of(Index n) {
  return std::log2(static_cast<double>(std::max<Index>(n, 2)));
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
  return call.from.strides[axis] == 1 && call.to.strides[axis] == 1 ? PointsLie::lines : PointsLie::columns;
}

PointsLie shape_named(const std::string& name) {
  return name == fft_lines ? PointsLie::lines : name == fft_columns ? PointsLie::columns : PointsLie::planes;
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

Costs::Costs(const MachineDescription& machine, const CostSetting& setting)
    : machine_(machine), setting_(setting) {
  const ProcessorDescription& p = machine.processor;
  const int busy = std::min(p.cores, setting.ranks_of_machine * setting.threads);
  together_ = p.cores == 1 ? 0 : (busy - 1.0) / (p.cores - 1.0);
  const auto described = [&](const std::string& library, int real_bytes) {
    return std::any_of(p.ffts.begin(), p.ffts.end(),
                       [&](const FftSpeed& f) { return f.library == library && f.real_bytes == real_bytes; });
  };
  const std::string library =
      described(setting.library, setting.real_bytes) ? setting.library : p.ffts.front().library;
  if (!described(library, setting.real_bytes))
    throw Error("model", "numbers of " + std::to_string(setting.real_bytes) + " bytes",
                "a machine description with local FFTs of that precision");
  std::map<Kind, std::pair<std::map<Index, double>, std::map<Index, double>>> points;
  for (const FftSpeed& f : p.ffts) {
    if (f.library != library || f.real_bytes != setting.real_bytes) continue;
    auto& [in_cache, in_memory] = points[kind_of(shape_named(f.shape), f.rows_meet, factors_of(f.length))];
    in_cache[f.length] = f.in_cache_s / log2_of(f.length);
    in_memory[f.length] = std::max(f.in_memory_s - f.in_cache_s, 1e-3 * f.in_cache_s);
  }
  const auto curve = [](const std::map<Index, double>& values) {
    std::vector<CurvePoint> list;
    for (const auto& [n, seconds] : values) list.push_back({static_cast<double>(n), seconds});
    return Curve(std::move(list));
  };
  for (const auto& [kind, curves] : points) lines_[kind] = {curve(curves.first), curve(curves.second)};
}

Costs::Factors Costs::factors_of(Index n) {
  const auto without = [&n](std::initializer_list<Index> primes) {
    for (const Index p : primes)
      while (n % p == 0) n /= p;
    return n;
  };
  return without({2}) == 1           ? Factors::two
         : without({3, 5}) == 1      ? Factors::five
         : without({7, 11, 13}) == 1 ? Factors::thirteen
                                     : Factors::any;
}

/// What was not measured is like the next easier kind of length, then like lines elsewhere.
const Costs::Lines& Costs::lines(PointsLie shape, bool rows_meet, Index n) const {
  for (const PointsLie which : {shape, PointsLie::columns, PointsLie::lines})
    for (const bool same : {rows_meet, !rows_meet})
      for (int f = static_cast<int>(factors_of(n)); f >= 0; --f)
        if (const auto found = lines_.find(kind_of(which, same, static_cast<Factors>(f)));
            found != lines_.end())
          return found->second;
  return lines_.begin()->second;
}

double Costs::byte_seconds(double distance) const {
  const ProcessorDescription& p = machine_.processor;
  const double bytes = std::max(distance, 1.0);
  return 1 / mixed(p.copy_alone.at(bytes), p.copy_together.at(bytes), together_);
}

/// 0: as in the cache, 1: as in memory, in between by the speed of copies; more where other ranks compute.
double Costs::memory_share(double distance) const {
  const ProcessorDescription& p = machine_.processor;
  const double in_cache = 1 / p.copy_alone.points().front().y, in_memory = 1 / p.copy_alone.points().back().y;
  if (in_memory <= in_cache) return 0;
  return std::max(0.0, (byte_seconds(distance) - in_cache) / (in_memory - in_cache));
}

/// Of all lines along one axis. `share`: how much of a pass through memory it costs.
double Costs::pass_seconds(const FftCall& call, int axis, bool several, double share) const {
  const Index n = call.extents[axis];
  const PointsLie shape = shape_of(call, axis, several);
  const bool meet = shape == PointsLie::planes    ? rows_meet(call, axis)
                    : shape == PointsLie::columns ? columns_meet(call, axis)
                                                  : false;
  const Lines& speed = lines(shape, meet, n);
  const auto length = static_cast<double>(n);
  const bool r2r = !call.r2r.empty(), reals = call.element != Element::complex;
  const TransformRatios& ratios = machine_.processor.ratios;
  const double ratio = call.real_axis >= 0 ? (several ? ratios.real_planes : ratios.real)
                       : r2r               ? ratios.r2r * (reals ? 1 : 2)
                                           : 1;
  // Real numbers have half of the bytes of complex ones, and a half spectrum half of the points.
  const double bytes_ratio = call.real_axis >= 0 || (r2r && reals) ? 0.5 : 1;
  double work = speed.in_cache.at(length) * log2_of(n), memory = speed.in_memory.at(length);
  if (shape == PointsLie::planes) {  // whose figures are of rows and columns together
    const double rows = lines(PointsLie::lines, false, n).in_cache.at(length) * log2_of(n);
    work = call.to.strides[axis] == 1 ? rows : std::max(work - rows, rows);
  }
  return points_of(call) * (ratio * work + bytes_ratio * share * memory);
}

double Costs::fft_seconds(const FftCall& call, const Distances& distances) const {
  const double from = memory_share(distances.from);
  const double to = in_place(call) ? from : memory_share(distances.to);
  // Several axes of what fits the cache are one pass through memory.
  double unit = std::min(call.from_bytes, call.to_bytes);
  for (const int a : call.axes) unit *= static_cast<double>(call.extents[a]);
  const bool one_pass = unit <= cache_bytes();
  const double again = one_pass ? 0 : memory_share(unit);
  const bool several =
      std::count_if(call.axes.begin(), call.axes.end(), [&](int a) { return call.extents[a] > 1; }) > 1;
  double seconds = 0;
  bool first = true;
  for (int i = call.axes.size() - 1; i >= 0; --i) {
    const int axis = call.axes[i];
    if (call.extents[axis] < 2) continue;
    seconds += pass_seconds(call, axis, several, first ? (from + to) / 2 : again);
    first = false;
  }
  if (first)
    seconds = points_of(call) *
              (call.from_bytes * byte_seconds(distances.from) + call.to_bytes * byte_seconds(distances.to));
  return seconds / setting_.threads + operation_seconds();
}

double Costs::copy_seconds(const CopyCall& call, const Distances& distances) const {
  const ProcessorDescription& p = machine_.processor;
  const auto read = static_cast<double>(bytes_read(call)), written = static_cast<double>(bytes_written(call));
  const double bytes_s = read * byte_seconds(distances.from) + written * byte_seconds(distances.to);
  if (call.coded.codec) {
    const auto plain = static_cast<double>(call.box.count() * call.element_bytes);
    const std::string name = call.coded.codec.row->name;
    const CodecSpeed* found = nullptr;
    for (const CodecSpeed& c : p.codecs)
      if (c.real_bytes == call.real_bytes && c.codec == name) found = &c;
    if (found == nullptr)
      throw Error("model", "codec " + name, "a machine description with speeds of codecs");
    const double speed = call.coded.encodes ? found->encode_bytes_per_s : found->decode_bytes_per_s;
    const double in_cache = (read + written) * byte_seconds(1);
    return (plain / speed + std::max(0.0, bytes_s - in_cache)) / setting_.threads + operation_seconds();
  }
  const auto run = static_cast<double>(contiguous_bytes(call));
  const double share = std::min(1.0, memory_share(std::max(distances.from, distances.to)));
  const double in_cache = p.share_by_run_in_cache.at(run);
  const double in_memory = (is_unaligned(call) ? p.share_by_run_unaligned : p.share_by_run).at(run);
  const double of_copy = mixed(in_cache, in_memory, share);
  return bytes_s / of_copy / setting_.threads + operation_seconds();
}

}  // namespace weft
