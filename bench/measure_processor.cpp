#include <algorithm>
#include <complex>
#include <cstring>
#include <functional>
#include <thread>

#include "base/arithmetic.hpp"
#include "base/cache.hpp"
#include "clock.hpp"
#include "codec/codec.hpp"
#include "fft/local_fft.hpp"
#include "kernels/cpu/permute_copy.hpp"
#include "kernels/cpu/rows.hpp"
#include "measure_machine.hpp"
#include "tune/machine.hpp"
#include "weft/buffer.hpp"

namespace weft::bench {

namespace {

using Bytes = Buffer<std::byte>;

/// Both sides of what is measured in the cache, and in memory.
constexpr Index cached_bytes = 128 << 10, memory_bytes = 64 << 20;
/// Points between the rows of planes, without which these would meet in the same sets of the cache.
constexpr Index padding = 4;

/// The best of some executions; short ones are repeated until they take a while.
double seconds_of(const std::function<void()>& work) {
  constexpr double least = 3e-4;
  work();
  int repeat = 1;
  for (;; repeat *= 2) {
    const double begin = seconds();
    for (int i = 0; i < repeat; ++i) work();
    if (seconds() - begin > least) break;
  }
  std::vector<double> times;
  for (int round = 0; round < 3; ++round) {
    const double begin = seconds();
    for (int i = 0; i < repeat; ++i) work();
    times.push_back((seconds() - begin) / repeat);
  }
  return summarise(times).min;
}

Bytes zeros(Index bytes) {
  Bytes memory(static_cast<std::size_t>(bytes));
  std::memset(memory.data(), 0, memory.size());
  return memory;
}

/// Copies rows of `run` bytes to where rows have another order, over a copy of as many bytes.
double share_of_run(Index run, Index bytes, Index unaligned_points) {
  constexpr int element = 16;
  const Index width = run / element, rows = bytes / run, columns = std::min<Index>(rows, 64),
              between = width + unaligned_points;
  const Bytes from = zeros(rows * between * element);
  Bytes to = zeros(rows * between * element);
  const PermuteCopy copy({rows / columns, columns, width}, {columns * between, between, 1},
                         {between, rows / columns * between, 1}, element);
  const double plain = seconds_of([&] { std::memcpy(to.data(), from.data(), from.size()); });
  return std::min(1.0, plain / seconds_of([&] { copy.run(from.data(), to.data()); }));
}

Curve shares(Index bytes, Index unaligned_points) {
  std::vector<CurvePoint> points;
  for (Index run = 16; run <= 16 << 10; run *= 4)
    points.push_back({static_cast<double>(run), share_of_run(run, bytes, unaligned_points)});
  return Curve(points);
}

FftProblem lines_of(Index n, Index lines, Index stride, Index between, Precision precision) {
  FftProblem p;
  p.precision = precision;
  p.in_place = true;
  p.dimensions = {{n, stride, stride}};
  p.loops = {{lines, between, between}};
  return p;
}

/// Seconds for a point, of a transform in place of each piece of memory in turn.
double seconds_of_point(const FftRow& row, const FftProblem& problem, Index pieces, Index step) {
  const FftRow* const rows[] = {&row};
  const auto point = static_cast<Index>(2 * real_bytes(problem.precision));
  Index last = 0, points = pieces;
  for (const std::vector<FftDimension>& dimensions : {problem.dimensions, problem.loops})
    for (const FftDimension& d : dimensions) {
      last += (d.n - 1) * d.from_stride;
      points *= d.n;
    }
  Bytes memory = zeros(((pieces - 1) * step + last + 1) * point);
  const PlannedFft fft = plan_fft(rows, problem);
  Bytes work = zeros(fft.fft->work_bytes());
  const double time = seconds_of([&] {
    for (Index i = 0; i < pieces; ++i) {
      std::byte* const at = memory.data() + i * step * point;
      fft.fft->execute(at, at, work.data());
    }
  });
  return time / static_cast<double>(points);
}

/// In memory: sub-tiles of an array, one after the other.
FftSpeed measure_fft(const FftRow& row, Index n, const char* shape, bool rows_meet, Precision precision) {
  const auto point = static_cast<Index>(2 * real_bytes(precision));
  const Index few = std::max<Index>(4, cached_bytes / (n * point)), all = memory_bytes / 2 / (n * point);
  FftSpeed speed{row.name, static_cast<int>(real_bytes(precision)), n, shape, rows_meet};
  const auto measure = [&](const FftProblem& cached, const FftProblem& in_memory, Index step) {
    speed.in_cache_s = seconds_of_point(row, cached, 1, 0);
    const Index pieces = std::max<Index>(1, all / (shape == std::string(fft_planes) ? n : few));
    speed.in_memory_s = seconds_of_point(row, in_memory, pieces, step);
    return speed;
  };
  if (shape == std::string(fft_lines)) {
    const FftProblem lines = lines_of(n, few, 1, n, precision);
    return measure(lines, lines, few * n);
  }
  if (shape == std::string(fft_planes)) {
    const Index between = rows_meet ? n : n + padding;
    FftProblem planes = lines_of(n, n, between, 1, precision);
    planes.dimensions.push_back({n, 1, 1});
    planes.loops = {{1, 1, 1}};
    return measure(planes, planes, n * between);
  }
  const Index row_points =
      rounded_up<Index>(all, (rows_meet ? 64 << 10 : 512) / point) + (rows_meet ? 0 : padding);
  const Index apart = rows_meet ? (64 << 10) / point : few + padding;
  return measure(lines_of(n, few, apart, 1, precision), lines_of(n, few, row_points, 1, precision), few);
}

/// Whether rows of so many points without padding meet.
bool may_meet(Index n, const char* shape, Precision precision) {
  return shape == std::string(fft_columns) ||
         (shape == std::string(fft_planes) && n * static_cast<Index>(2 * real_bytes(precision)) % 512 == 0);
}

std::vector<FftSpeed> measure_ffts() {
  std::vector<FftSpeed> speeds;
  for (const FftRow& row : fft_table()) {
    if (row.memory != MemoryKind::host || !row.missing().empty()) continue;
    for (const Precision precision : {Precision::float64, Precision::float32})
      for (const char* const shape : {fft_lines, fft_columns, fft_planes})
        for (const bool rows_meet : {false, true})
          for (const Index n : {16,  32,  64,  128, 256,  512, 1024, 2048, 24,   60, 96,  100, 192,
                                240, 384, 500, 768, 1000, 56,  182,  336,  1001, 31, 127, 509})
            if ((shape != std::string(fft_planes) || n <= 1024) &&
                (!rows_meet || may_meet(n, shape, precision)))
              speeds.push_back(measure_fft(row, n, shape, rows_meet, precision));
  }
  return speeds;
}

/// Over the two lengths that are no more alike than those of users.
TransformRatios measure_ratios() {
  const std::vector<const FftRow*> rows = find_ffts("auto");
  const auto time = [&](const FftProblem& p) {
    Bytes a = zeros(1 << 20), b = zeros(1 << 20);
    const PlannedFft fft = plan_fft(rows, p);
    Bytes work = zeros(fft.fft->work_bytes());
    return seconds_of([&] { fft.fft->execute(a.data(), p.in_place ? a.data() : b.data(), work.data()); });
  };
  TransformRatios ratios{0, 0, 0};
  for (const Index n : {128, 100}) {
    constexpr Index lines = 16;
    FftProblem real, dct, plane = lines_of(n, n, n + padding, 1, Precision::float64);
    real.kind = FftKind::real;
    real.dimensions = {{n, 1, 1}};
    real.loops = {{lines, n, n / 2 + 1}};
    dct.kind = FftKind::r2r;
    dct.dimensions = {{n, 1, 1, Transform::dct2}};
    dct.loops = {{lines, n, n}};
    plane.dimensions.push_back({n, 1, 1});
    plane.loops.clear();
    FftProblem real_plane = plane;
    real_plane.kind = FftKind::real;
    real_plane.in_place = false;
    real_plane.dimensions.front().to_stride = n / 2 + 1 + padding;
    const double complex = time(lines_of(n, lines, 1, n, Precision::float64));
    ratios.real += time(real) / complex / 2;
    ratios.real_planes += time(real_plane) / time(plane) / 2;
    ratios.r2r += time(dct) / complex / 2;
  }
  return ratios;
}

std::vector<CodecSpeed> measure_codecs() {
  constexpr Index reals = 4096;
  std::vector<CodecSpeed> speeds;
  for (const auto& [codec, real] : described_codecs()) {
    const RowCoder coder = row_coder(codec, real);
    const RowManner manner{codec.bits};
    Bytes numbers = zeros(reals * real), row = zeros(row_bytes(codec, reals, real));
    for (Index i = 0; i < reals; ++i) {
      const double x = 1.0 + static_cast<double>(i % 97) / 97;
      const auto y = static_cast<float>(x);
      std::memcpy(numbers.data() + i * real, real == 8 ? static_cast<const void*>(&x) : &y,
                  static_cast<std::size_t>(real));
    }
    const auto bytes = static_cast<double>(reals * real);
    const double encode =
        seconds_of([&] { coder.encode(numbers.data(), 0, reals, reals, manner, row.data()); });
    const double decode =
        seconds_of([&] { coder.decode(row.data(), reals, 0, reals, manner, numbers.data()); });
    speeds.push_back({codec.row->name, real, bytes / encode, bytes / decode});
  }
  return speeds;
}

}  // namespace

std::vector<std::pair<Codec, int>> described_codecs() {
  std::vector<std::pair<Codec, int>> all;
  for (const char* name : {"fp32", "fp16", "bf16", "trim:20", "trim:12"})
    for (const int real : {8, 4}) {
      const Codec codec = find_codec(name);
      const int bits = codec.row->wire_bits(codec.bits, real);
      const bool trims = codec.row->name == std::string("trim");
      if (bits > 0 && bits < 8 * real && (!trims || (real == 8) == (codec.bits == 20)))
        all.emplace_back(codec, real);
    }
  return all;
}

Curve measure_copies() {
  std::vector<CurvePoint> points;
  for (Index bytes = 64 << 10; bytes <= 2 * memory_bytes; bytes *= 4) {
    const Bytes from = zeros(bytes / 2);
    Bytes to = zeros(bytes / 2);
    const double time = seconds_of([&] { std::memcpy(to.data(), from.data(), from.size()); });
    points.push_back({static_cast<double>(bytes), static_cast<double>(bytes) / time});
  }
  return Curve(points);
}

ProcessorDescription measure_processor() {
  ProcessorDescription p;
  p.name = processor_text();
  p.cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  p.cache_bytes = second_cache_bytes();
  p.copy_alone = measure_copies();
  p.share_by_run_in_cache = shares(cached_bytes, 0);
  p.share_by_run = shares(memory_bytes, 0);
  p.share_by_run_unaligned = shares(memory_bytes, 1);
  p.ffts = measure_ffts();
  p.ratios = measure_ratios();
  p.codecs = measure_codecs();
  const PermuteCopy small({1, 1}, {1, 1}, {1, 1}, 16);
  std::byte a[16] = {}, b[16];
  p.operation_s = 2 * seconds_of([&] { small.run(a, b); });
  return p;
}

}  // namespace weft::bench
