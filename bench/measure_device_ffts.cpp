#include <algorithm>
#include <memory>
#include <optional>

#include "fft/local_fft.hpp"
#include "fft/stream_fft.hpp"
#include "measure_device.hpp"

namespace weft::bench {

namespace {

/// Libraries of devices do lengths of the same kind at speeds that differ by factors, so there are many.
const std::vector<Index>& usual_lengths() {
  static const std::vector<Index> all{16,   32,   64,   128, 256, 512, 1024, 2048, 24,  60,  75,  80,  96,
                                      100,  120,  144,  160, 180, 192, 200,  216,  240, 300, 320, 360, 384,
                                      400,  432,  480,  500, 540, 600, 640,  720,  768, 800, 900, 960, 1000,
                                      1080, 1200, 1280, 56,  112, 182, 336,  1001, 31,  127, 509};
  return all;
}

/// Work memory that grows with what is asked for.
class Work {
 public:
  explicit Work(Device& device) : device_(device) {}
  std::byte* of(std::size_t bytes) {
    if (bytes > bytes_) {
      memory_.reset();
      memory_ = device_.allocate(bytes, DeviceTimer::what);
      bytes_ = bytes;
    }
    return memory_.get();
  }

 private:
  Device& device_;
  std::shared_ptr<std::byte> memory_;
  std::size_t bytes_ = 0;
};

struct Placed {
  std::vector<FftDimension> dimensions, loops;
  Index points() const {
    Index count = 1;
    for (const std::vector<FftDimension>* all : {&dimensions, &loops})
      for (const FftDimension& d : *all) count *= d.n;
    return count;
  }
};

/// Lines of n points with about so many points in all.
Placed placed(Index n, const std::string& shape, Index points) {
  const Index lines = std::max<Index>(1, points / n);
  if (shape == fft_lines) return {{{n, 1, 1}}, {{lines, n, n}}};
  if (shape == fft_columns) return {{{n, lines, lines}}, {{lines, 1, 1}}};
  if (shape == fft_planes) return {{{n, n, n}, {n, 1, 1}}, {{std::max<Index>(1, lines / n), n * n, n * n}}};
  // Half an axis of the same length, as of a spectrum that is cut in two.
  const Index side = std::min(n / 4 + 1, lines), planes = std::max<Index>(1, lines / side);
  return {{{n, side, side}}, {{planes, n * side, n * side}, {side, 1, 1}}};
}

class DeviceFfts {
 public:
  DeviceFfts(DeviceTimer& timer, const DeviceSizes& sizes)
      : timer_(timer), sizes_(sizes), rows_(find_ffts("auto", MemoryKind::cuda)), work_(timer.device()) {}

  double seconds(const FftProblem& problem, int repeat) {
    const PlannedStreamFft planned = plan_stream_fft(rows_, problem, timer_.device());
    std::byte* const work = work_.of(planned.fft->work_bytes());
    library_ = planned.row->name;
    return timer_.device_seconds(
        repeat, [&] { planned.fft->enqueue(timer_.stream(), timer_.from(), timer_.to(), work); });
  }

  static FftProblem problem_of(const Placed& p, Precision precision) {
    FftProblem problem;
    problem.precision = precision;
    problem.dimensions = p.dimensions;
    problem.loops = p.loops;
    return problem;
  }

  /// What a call takes at least is told by few points, the rest by many. Nothing where a plane does not fit.
  std::optional<FftSpeed> speed(Index n, const char* shape, Precision precision) {
    const auto point = static_cast<Index>(2 * real_bytes(precision));
    const Placed few = placed(n, shape, sizes_.small / point), some = placed(n, shape, sizes_.cached / point),
                 all = placed(n, shape, sizes_.memory / point);
    if (all.points() * point > sizes_.memory || some.points() * point > 2 * sizes_.cached)
      return std::nullopt;
    FftSpeed s{"", static_cast<int>(real_bytes(precision)), n, shape};
    const double least = seconds(problem_of(few, precision), cached_repeats);
    const double in_cache =
        few.points() == some.points() ? least : seconds(problem_of(some, precision), cached_repeats);
    const double in_memory = seconds(problem_of(all, precision), 2);
    s.library = library_;
    const auto few_points = static_cast<double>(few.points()),
               some_points = static_cast<double>(some.points()),
               all_points = static_cast<double>(all.points());
    // Where one plane is no small call, a call takes what lines take at least, for either axis.
    const double slope = 4 * few.points() <= some.points() ? (in_cache - least) / (some_points - few_points)
                                                           : (in_cache - 2 * lines_call_s_) / some_points;
    s.in_cache_s = std::clamp(slope, 0.1 * in_cache / some_points, in_cache / some_points);
    s.call_s = std::max(0.0, in_cache - some_points * s.in_cache_s);
    if (shape == std::string(fft_lines)) lines_call_s_ = s.call_s;
    s.in_memory_s = std::max(s.in_cache_s, (in_memory - s.call_s) / all_points);
    return s;
  }

 private:
  /// The first of them finds nothing in the cache.
  static constexpr int cached_repeats = 16;

  DeviceTimer& timer_;
  const DeviceSizes& sizes_;
  std::vector<const FftRow*> rows_;
  Work work_;
  std::string library_;
  double lines_call_s_ = 0;  ///< of the last length
};

}  // namespace

std::vector<FftSpeed> measure_device_ffts(DeviceTimer& timer, const DeviceSizes& sizes) {
  std::vector<FftSpeed> speeds;
  DeviceFfts ffts(timer, sizes);
  for (const Precision precision : {Precision::float64, Precision::float32})
    for (const Index n : sizes.lengths.empty() ? usual_lengths() : sizes.lengths)
      for (const char* const shape : {fft_lines, fft_columns, fft_middle, fft_planes})
        if (const std::optional<FftSpeed> s = ffts.speed(n, shape, precision)) speeds.push_back(*s);
  return speeds;
}

/// Over c2c of as many points, beyond the cache, of two lengths.
TransformRatios measure_device_ratios(DeviceTimer& timer, const DeviceSizes& sizes) {
  DeviceFfts ffts(timer, sizes);
  const Index points = sizes.memory / 16;
  const auto complex_time = [&](Index n, const char* shape) {
    return ffts.seconds(DeviceFfts::problem_of(placed(n, shape, points), Precision::float64), 2);
  };
  TransformRatios ratios{0, 0, 0};
  const std::vector<Index> lengths{128, 120};
  for (const Index n : lengths) {
    FftProblem real = DeviceFfts::problem_of(placed(n, fft_lines, points), Precision::float64), dct = real;
    real.kind = FftKind::real;
    real.loops.front().to_stride = n / 2 + 1;
    dct.kind = FftKind::r2r;
    dct.dimensions.front().transform = Transform::dct2;
    FftProblem plane = DeviceFfts::problem_of(placed(n, fft_planes, points), Precision::float64);
    plane.kind = FftKind::real;
    plane.dimensions.front().to_stride = n / 2 + 1;
    plane.loops.front().to_stride = n * (n / 2 + 1);
    const auto both = static_cast<double>(lengths.size());
    const double lines = complex_time(n, fft_lines);
    ratios.real += ffts.seconds(real, 2) / lines / both;
    ratios.r2r += ffts.seconds(dct, 2) / lines / both;
    ratios.real_planes += ffts.seconds(plane, 2) / complex_time(n, fft_planes) / both;
  }
  return ratios;
}

double measure_device_fft_launch(DeviceTimer& timer) {
  FftProblem lines;
  constexpr Index n = 16;
  lines.dimensions = {{n, 1, 1}};
  lines.loops = {{n, n, n}};
  const PlannedStreamFft planned =
      plan_stream_fft(find_ffts("auto", MemoryKind::cuda), lines, timer.device());
  const auto work = timer.device().allocate(planned.fft->work_bytes(), DeviceTimer::what);
  const auto enqueue = [&] { planned.fft->enqueue(timer.stream(), timer.from(), timer.to(), work.get()); };
  return timer.time(50, enqueue).host_s;
}

}  // namespace weft::bench
