#include "tune/constants.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <ctime>
#include <limits>
#include <vector>

#include "base/cache.hpp"
#include "base/timing.hpp"
#include "exec/host/executor.hpp"
#include "program/builder.hpp"
#include "schedule/planner.hpp"
#include "weft/buffer.hpp"

namespace weft {

namespace {

using Complex = std::complex<double>;

constexpr double always = 0, never = std::numeric_limits<double>::max();

/// Processor time of this thread, which other ranks and programs do not disturb.
double seconds_computed() {
#ifdef CLOCK_THREAD_CPUTIME_ID
  timespec t{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0)
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
#endif
  return seconds_now();
}

/// The shape of an array of `caches` second-level caches, with columns of 256 points along the slowest axis.
Shape columns(double caches) {
  const auto rows = static_cast<Index>(caches * static_cast<double>(second_cache_bytes())) / (256 * 16);
  return {256, 32, std::max<Index>(4, rows / 32)};
}

/// A cube of about `caches` second-level caches, with a side that FFTs do fast.
Shape cube(double caches) {
  const double points = caches * static_cast<double>(second_cache_bytes()) / 16;
  const Index side = std::max<Index>(1, std::lround(std::cbrt(points) / 20)) * 20;
  return {side, side, side};
}

/// Times several programs that transform one array on one rank.
class Trial {
 public:
  explicit Trial(const Shape& shape) {
    ScheduleRequest request;
    request.shape = shape;
    request.transforms = AxisVector<Transform>(3, Transform::c2c);
    request.input = request.output = named_tiling(Distribution::slab(0), shape, 1, "constants");
    request.input_orders = request.output_orders = {c_order(3)};
    schedule_ = make_schedule(request);
    const auto points = static_cast<std::size_t>(shape[0] * shape[1] * shape[2]);
    in_ = Buffer<Complex>(points);
    out_ = Buffer<Complex>(points);
    std::fill(in_.begin(), in_.end(), Complex());  // zeros stay zeros, and now the pages are there
    std::fill(out_.begin(), out_.end(), Complex());
  }

  void add(Index subtile, double store_past_from, double two_passes_from) {
    ProgramRequest request;
    request.cache_bytes = second_cache_bytes();
    request.subtile = subtile;
    request.store_past_from = store_past_from;
    request.two_passes_from = two_passes_from;
    Program program = build_program(schedule_, {}, request);
    work_.emplace_back(static_cast<std::size_t>(program.workspace_bytes));
    ExecutorSettings settings;
    settings.ffts = find_ffts("auto");
    ways_.emplace_back(std::move(program), settings);
  }

  /// The median time of each program over rounds in which they take turns. A first round does not count.
  std::vector<double> medians(int rounds) {
    const auto once = [&](std::size_t way) { return time(way); };
    medians_in_turn(ways_.size(), 1, once);
    return medians_in_turn(ways_.size(), rounds, once);
  }

 private:
  double time(std::size_t way) {
    const double begin = seconds_computed();
    ways_[way].start(in_.data(), out_.data(), work_[way].data());
    ways_[way].advance(Patience::wait);
    return seconds_computed() - begin;
  }

  Schedule schedule_;
  Buffer<Complex> in_, out_;
  std::vector<Buffer<std::byte>> work_;
  std::vector<Executor> ways_;
};

/// The smallest size within 3% of the fastest one; the default if that is within 5%.
Index measure_subtile(const MachineConstants& c) {
  const Index cache = second_cache_bytes();
  std::vector<Index> sizes;
  for (Index kib : {32, 64, 128, 256, 512})
    if (kib << 10 == c.subtile || 2 * (kib << 10) <= cache) sizes.push_back(kib << 10);
  Trial trial(columns(2));
  for (Index size : sizes) trial.add(size, always, always);
  const std::vector<double> times = trial.medians(3);
  const double best = *std::min_element(times.begin(), times.end());
  const auto standard =
      static_cast<std::size_t>(std::find(sizes.begin(), sizes.end(), c.subtile) - sizes.begin());
  if (times[standard] < 1.05 * best) return c.subtile;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (times[i] < 1.03 * best) return sizes[i];
  return c.subtile;
}

/// Compares one pass and two on an array of half the default size, as larger ones take too long. The gain
/// also depends on the shape, by about a tenth, so that only larger differences change the default.
double measure_two_passes_from(const MachineConstants& c) {
  const double caches = c.two_passes_from / 2;
  Trial trial(cube(caches));
  trial.add(c.subtile, c.store_past_from, never);
  trial.add(c.subtile, c.store_past_from, always);
  const std::vector<double> times = trial.medians(3);
  const double gain = times[0] / times[1];
  return gain > 1.15 ? caches : gain < 0.8 ? 2 * c.two_passes_from : c.two_passes_from;
}

}  // namespace

MachineConstants measure_constants() {
  MachineConstants c;
  try {
    c.subtile = measure_subtile(c);
    c.two_passes_from = measure_two_passes_from(c);
  } catch (const Error&) {  // no local FFT library, or none that can be asked
    return {};
  }
  return c;
}

}  // namespace weft
