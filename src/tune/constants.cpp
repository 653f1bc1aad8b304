#include "tune/constants.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <ctime>
#include <limits>
#include <vector>

#include "base/arithmetic.hpp"
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

/// The median times, on one rank, of the programs that transform an array with each of `constants`.
std::vector<double> median_times(const Shape& shape, const std::vector<MachineConstants>& constants) {
  ScheduleRequest asked;
  asked.shape = shape;
  asked.transforms = AxisVector<Transform>(3, Transform::c2c);
  asked.input = asked.output = named_tiling(Distribution::slab(0), shape, 1, "constants");
  asked.input_orders = asked.output_orders = {c_order(3)};
  const Schedule schedule = make_schedule(asked);
  const auto points = static_cast<std::size_t>(shape[0] * shape[1] * shape[2]);
  Buffer<Complex> in(points), out(points);
  std::fill(in.begin(), in.end(), Complex());  // zeros stay zeros, and now the pages are there
  std::fill(out.begin(), out.end(), Complex());
  std::vector<Buffer<std::byte>> work;
  std::vector<Executor> executors;
  for (const MachineConstants& c : constants) {
    ProgramRequest request;
    request.cache_bytes = second_cache_bytes();
    request.subtile = c.subtile;
    request.store_past_from = c.store_past_from;
    request.two_passes_from = c.two_passes_from;
    Program program = build_program(schedule, {}, request);
    const Index of_program = rounded_up<Index>(program.workspace_bytes, 64);
    ExecutorSettings settings;
    settings.ffts = find_ffts("auto");
    executors.emplace_back(std::move(program), settings);
    work.emplace_back(static_cast<std::size_t>(of_program + executors.back().fft_work_bytes()));
  }
  const auto time = [&](std::size_t i) {
    const double begin = seconds_computed();
    executors[i].start(in.data(), out.data(), work[i].data());
    executors[i].advance(Patience::wait);
    return seconds_computed() - begin;
  };
  medians_in_turn(executors.size(), 1, time);  // the first executions do not count
  return medians_in_turn(executors.size(), 3, time);
}

/// The smallest size within 3% of the fastest one; the default if that is within 5%.
Index measure_subtile(Index standard) {
  const Index cache = second_cache_bytes();
  std::vector<MachineConstants> ways;
  for (const Index size : {32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10})
    if (size == standard || 2 * size <= cache) ways.push_back({size, always, always});
  const std::vector<double> times = median_times(columns(2), ways);
  const double best = *std::min_element(times.begin(), times.end());
  for (std::size_t i = 0; i < ways.size(); ++i)
    if (ways[i].subtile == standard && times[i] < 1.05 * best) return standard;
  const auto good = std::find_if(times.begin(), times.end(), [&](double t) { return t <= 1.03 * best; });
  return ways[static_cast<std::size_t>(good - times.begin())].subtile;
}

/// Compares one pass and two on an array of half the default size, as larger ones take too long. The gain
/// also depends on the shape, by about a tenth, so that only larger differences change the default.
double measure_two_passes_from(const MachineConstants& c) {
  const double caches = c.two_passes_from / 2;
  const std::vector<double> times = median_times(
      cube(caches), {{c.subtile, c.store_past_from, never}, {c.subtile, c.store_past_from, always}});
  const double gain = times[0] / times[1];
  return gain > 1.15 ? caches : gain < 0.8 ? 2 * c.two_passes_from : c.two_passes_from;
}

}  // namespace

MachineConstants measure_constants() {
  MachineConstants c;
  try {
    c.subtile = measure_subtile(c.subtile);
    c.two_passes_from = measure_two_passes_from(c);
  } catch (const Error&) {  // no local FFT library, or none that can be asked
    return {};
  }
  return c;
}

}  // namespace weft
