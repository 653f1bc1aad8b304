// Copies between strided boxes, with up to four merged loops in a launch. Where the fastest axes of source
// and destination differ, tiles go through shared memory, so that both are accessed in long runs. Otherwise
// up to 16 bytes are moved at once, and several copies share a launch. Elements can be multiplied.
#include "kernels/gpu/kernels.hpp"
#include "kernels/gpu/signals.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/gpu/divider.hpp"

namespace weft::gpus {

namespace {

constexpr int kernel_loops = 4;

/// The bytes that a thread loads and stores at once.
template <int Bytes>
struct alignas(Bytes) Unit {
  std::uint32_t words[Bytes / 4];
};

struct Copied {
  template <class U>
  __device__ U operator()(U unit) const {
    return unit;
  }
};

template <class Real>
struct Multiplied {
  Real factor;
  template <class U>
  __device__ U operator()(U unit) const {
    Real reals[sizeof(U) / sizeof(Real)];
    memcpy(reals, &unit, sizeof unit);
    for (Real& r : reals) r *= factor;
    memcpy(&unit, reals, sizeof unit);
    return unit;
  }
};

/// Loops in the form that kernels need, the innermost first.
template <class Position>
struct Loops {
  int count = 0;
  Divider<Position> n[kernel_loops];
  Position from[kernel_loops], to[kernel_loops];

  /// Adds to `f` and `t` the offsets of a position within the loops from `first` on.
  __device__ void locate(int first, Position position, Position& f, Position& t) const {
#pragma unroll
    for (int i = 0; i < kernel_loops; ++i) {
      if (i < first || i >= count) continue;
      const bool outermost = i + 1 == count;
      const Position rest = outermost ? 0 : n[i].divide(position);
      const Position at = position - rest * n[i].divisor();
      f += at * from[i];
      t += at * to[i];
      position = rest;
    }
  }
};

constexpr int line_threads = 256, line_units = 4;  ///< units that a thread has under way at a time

/// The most copies in one launch.
constexpr int jobs_at_once = 8;

template <class U, class Position, int Most>
struct LineJobs {
  int count = 0;
  Position total[Most];
  U* to[Most];
  const U* from[Most];
  Loops<Position> loops[Most];
};

/// Copies units in the order of the destination.
template <class U, class Position, int Most, class Move>
__global__ void __launch_bounds__(line_threads)
    copy_lines(const WEFT_GRID_CONSTANT LineJobs<U, Position, Most> jobs, const Move move,
               const WEFT_GRID_CONSTANT KernelSignals signals) {
  // Consecutive blocks take different copies, so that copies to several devices run at the same time.
  const unsigned count = Most == 1 ? 1 : static_cast<unsigned>(jobs.count);
  const unsigned job = blockIdx.x % count;
  const Loops<Position>& loops = jobs.loops[job];
  const Position total = jobs.total[job];
  const U* const from = jobs.from[job];
  U* const to = jobs.to[job];
  const Position first = static_cast<Position>(blockIdx.x / count) * (line_threads * line_units) +
                         static_cast<Position>(threadIdx.x);
  U units[line_units];
  Position places[line_units];
#pragma unroll
  for (int i = 0; i < line_units; ++i) {
    const Position position = first + static_cast<Position>(i * line_threads);
    if (position >= total) break;
    Position f = 0;
    places[i] = 0;
    loops.locate(0, position, f, places[i]);
    units[i] = from[f];
  }
#pragma unroll
  for (int i = 0; i < line_units; ++i) {
    if (first + static_cast<Position>(i * line_threads) >= total) break;
    to[places[i]] = move(units[i]);
  }
  store_signals(signals);
}

constexpr int tile_columns = 32, tile_rows = 8;

/// Adjacent units that a thread reads or writes at once.
template <class U, int Wide>
struct alignas(sizeof(U) * Wide) Run {
  U units[Wide];
};

/// Copies square tiles of the two innermost loops, of which the innermost is the fastest in the destination
/// and the other one in the source. `Wide` divides both lengths, all strides and both start addresses, in
/// units.
template <class U, int Wide, class Position, class Move>
__global__ void __launch_bounds__(tile_columns* tile_rows)
    copy_tiles(const Loops<Position> loops, U* to, const U* from, const Divider<Position> tiles_last,
               const Divider<Position> tiles_other, const Move move) {
  constexpr int tile = tile_columns * Wide;
  __shared__ U kept[tile][tile + 1];
  const Position block = blockIdx.x;
  const Position rows = tiles_last.divide(block), outer = tiles_other.divide(rows);
  const Position last = (block - rows * tiles_last.divisor()) * tile;
  const Position other = (rows - outer * tiles_other.divisor()) * tile;
  Position f = 0, t = 0;
  loops.locate(2, outer, f, t);
  const Position x = threadIdx.x * Wide, y = threadIdx.y;
  const Position n_last = loops.n[0].divisor(), n_other = loops.n[1].divisor();
#pragma unroll
  for (Position i = y; i < tile; i += tile_rows)
    if (last + i < n_last && other + x < n_other) {
      const auto run = *reinterpret_cast<const Run<U, Wide>*>(
          from + (f + (last + i) * loops.from[0] + (other + x) * loops.from[1]));
#pragma unroll
      for (int k = 0; k < Wide; ++k) kept[i][x + k] = run.units[k];
    }
  __syncthreads();
#pragma unroll
  for (Position i = y; i < tile; i += tile_rows)
    if (last + x < n_last && other + i < n_other) {
      Run<U, Wide> run;
#pragma unroll
      for (int k = 0; k < Wide; ++k) run.units[k] = move(kept[x + k][i]);
      *reinterpret_cast<Run<U, Wide>*>(to + (t + (last + x) * loops.to[0] + (other + i) * loops.to[1])) = run;
    }
}

template <class Position>
Loops<Position> kernel_view(const CopyLoops& c) {
  Loops<Position> l;
  l.count = c.count;
  for (int i = 0; i < c.count; ++i) {
    const CopyLoop& loop = c[c.count - 1 - i];
    l.n[i] = Divider<Position>(static_cast<Position>(loop.n));
    l.from[i] = static_cast<Position>(loop.from);
    l.to[i] = static_cast<Position>(loop.to);
  }
  return l;
}

constexpr Index most_blocks = 0x7fffffff;

/// A copy with loops in units instead of elements.
struct Part {
  CopyLoops loops;
  std::byte* to;
  const std::byte* from;
};
using Parts = std::span<const Part>;

template <int Most, class U, class Position, class Move>
Status launch_lines(Parts parts, const Move& move, const KernelSignals& signals, StreamHandle stream) {
  LineJobs<U, Position, Most> jobs;
  Index blocks = 0;
  for (const Part& p : parts) {
    const int i = jobs.count++;
    Index total = 1;
    for (int a = 0; a < p.loops.count; ++a) total *= p.loops[a].n;
    jobs.total[i] = static_cast<Position>(total);
    jobs.to[i] = reinterpret_cast<U*>(p.to);
    jobs.from[i] = reinterpret_cast<const U*>(p.from);
    jobs.loops[i] = kernel_view<Position>(p.loops);
    blocks = std::max(blocks, (total + line_threads * line_units - 1) / (line_threads * line_units));
  }
  blocks *= jobs.count;
  if (blocks > most_blocks) return invalid_configuration;
  copy_lines<<<static_cast<unsigned>(blocks), line_threads, 0, stream>>>(jobs, move, signals);
  return last_status();
}

template <class U, int Wide, class Position, class Move>
Status launch_tiles(const CopyLoops& c, U* to, const U* from, const Move& move, StreamHandle stream) {
  constexpr int tile = tile_columns * Wide;
  const Index tiles_last = (c.innermost().n + tile - 1) / tile,
              tiles_other = (c[c.count - 2].n + tile - 1) / tile;
  Index blocks = tiles_last * tiles_other;
  for (int i = 0; i + 2 < c.count; ++i) blocks *= c[i].n;
  if (blocks > most_blocks) return invalid_configuration;
  copy_tiles<U, Wide><<<static_cast<unsigned>(blocks), dim3(tile_columns, tile_rows), 0, stream>>>(
      kernel_view<Position>(c), to, from, Divider<Position>(static_cast<Position>(tiles_last)),
      Divider<Position>(static_cast<Position>(tiles_other)), move);
  return last_status();
}

/// Whether all pairs of units are aligned to their size in source and destination.
template <class U>
bool is_even(const CopyLoops& c, const U* to, const U* from) {
  const auto starts = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  const CopyLoop &last = c.innermost(), &other = c[c.count - 2];
  bool even = starts % (2 * sizeof(U)) == 0 && last.to == 1 && other.from == 1 && last.n % 2 == 0 &&
              other.n % 2 == 0 && last.from % 2 == 0 && other.to % 2 == 0;
  for (int i = 0; i + 2 < c.count; ++i) even = even && c[i].from % 2 == 0 && c[i].to % 2 == 0;
  return even;
}

template <class U, class Position, class Move>
Status launch_one(const Part& part, const Move& move, const KernelSignals& signals, StreamHandle stream) {
  const CopyLoops& c = part.loops;
  if (!c.transposes) return launch_lines<1, U, Position>({&part, 1}, move, signals, stream);
  auto* to = reinterpret_cast<U*>(part.to);
  const auto* from = reinterpret_cast<const U*>(part.from);
  // Small units are moved in pairs, because single ones leave too few bytes under way.
  if constexpr (sizeof(U) < 16)
    if (is_even(c, to, from)) return launch_tiles<U, 2, Position>(c, to, from, move, stream);
  return launch_tiles<U, 1, Position>(c, to, from, move, stream);
}

/// Whether positions fit 31 bits, those of the padding of the last block included.
bool is_small(const CopyLoops& c) {
  Index total = 1, from = 0, to = 0;
  for (int i = 0; i < c.count; ++i) {
    total *= c[i].n;
    from += (c[i].n - 1) * c[i].from;
    to += (c[i].n - 1) * c[i].to;
  }
  return std::max({total, from, to}) < (Index{1} << 31) - line_threads * line_units;
}

template <class U, class Move>
Status launch(Parts parts, const Move& move, const KernelSignals& signals, StreamHandle stream) {
  if (parts.size() > 1) return launch_lines<jobs_at_once, U, std::uint32_t>(parts, move, signals, stream);
  return is_small(parts[0].loops) ? launch_one<U, std::uint32_t>(parts[0], move, signals, stream)
                                  : launch_one<U, std::uint64_t>(parts[0], move, signals, stream);
}

template <class Move>
Status launch_units(Parts parts, int bytes, const Move& move, const KernelSignals& signals,
                    StreamHandle stream) {
  switch (bytes) {
    case 4:
      return launch<Unit<4>>(parts, move, signals, stream);
    case 8:
      return launch<Unit<8>>(parts, move, signals, stream);
    case 16:
      return launch<Unit<16>>(parts, move, signals, stream);
    default:
      return invalid_value;
  }
}

/// Merges adjacent elements into larger units where lengths, strides and addresses allow it; returns the
/// unit's bytes.
int widen(CopyLoops& c, int bytes, const std::byte* to, const std::byte* from) {
  if (c.transposes || c.innermost().from != 1 || c.innermost().to != 1) return bytes;
  for (int wide = 16; wide > bytes; wide /= 2) {
    const Index by = wide / bytes;
    const auto starts = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
    bool fits = starts % static_cast<unsigned>(wide) == 0 && c.innermost().n % by == 0;
    for (int i = 0; i + 1 < c.count; ++i) fits = fits && c[i].from % by == 0 && c[i].to % by == 0;
    if (!fits) continue;
    c[c.count - 1].n /= by;
    for (int i = 0; i + 1 < c.count; ++i) {
      c[i].from /= by;
      c[i].to /= by;
    }
    return wide;
  }
  return bytes;
}

/// Copies that are collected for one launch. They have the same unit, factor and type.
class Waiting {
 public:
  explicit Waiting(StreamHandle stream) : stream_(stream) {}

  /// Adds a copy of at most four loops.
  Status add(const DeviceCopy& copy, std::byte* to, const std::byte* from) {
    Part part{copy.loops, to, from};
    const int bytes = widen(part.loops, copy.element_bytes, to, from);
    const bool joins = !part.loops.transposes && is_small(part.loops);
    if (count_ > 0 && !(joins && joined_ && count_ < jobs_at_once && bytes == bytes_ &&
                        copy.factor == factor_ && copy.real_bytes == real_bytes_)) {
      const Status status = launch({});
      if (status != success) return status;
    }
    bytes_ = bytes;
    factor_ = copy.factor;
    real_bytes_ = copy.real_bytes;
    joined_ = joins;
    parts_[static_cast<std::size_t>(count_++)] = part;
    return success;
  }

  /// Whether the launch of the collected copies can store signals at its end.
  bool signals() const { return count_ > 0 && !parts_[0].loops.transposes; }

  Status launch(const KernelSignals& signals) {
    if (count_ == 0) return success;
    const Parts parts(parts_.data(), static_cast<std::size_t>(count_));
    count_ = 0;
    if (factor_ == 1) return launch_units(parts, bytes_, Copied{}, signals, stream_);
    if (real_bytes_ == 4)
      return launch_units(parts, bytes_, Multiplied<float>{static_cast<float>(factor_)}, signals, stream_);
    if (bytes_ == 4) return invalid_value;
    if (bytes_ == 8) return gpus::launch<Unit<8>>(parts, Multiplied<double>{factor_}, signals, stream_);
    return gpus::launch<Unit<16>>(parts, Multiplied<double>{factor_}, signals, stream_);
  }

 private:
  StreamHandle stream_;
  std::array<Part, jobs_at_once> parts_{};
  int count_ = 0;
  int bytes_ = 0, real_bytes_ = 0;
  double factor_ = 1;
  bool joined_ = false;
};

/// Adds a copy of any number of loops; those beyond four run on the host.
Status add(Waiting& waiting, const DeviceCopy& copy, std::byte* to, const std::byte* from) {
  if (copy.loops.empty) return success;
  if (copy.loops.count <= kernel_loops) return waiting.add(copy, to, from);
  DeviceCopy inner = copy;
  const CopyLoop outer = copy.loops[0];
  std::copy(copy.loops.loops.begin() + 1, copy.loops.loops.end(), inner.loops.loops.begin());
  --inner.loops.count;
  for (Index i = 0; i < outer.n; ++i) {
    const Status status = add(waiting, inner, to + i * outer.to * copy.element_bytes,
                              from + i * outer.from * copy.element_bytes);
    if (status != success) return status;
  }
  return success;
}

}  // namespace

Status enqueue(std::span<const DeviceCopyJob> jobs, const KernelSignals& signals, bool& stored,
               StreamHandle stream) {
  Waiting waiting(stream);
  for (const DeviceCopyJob& job : jobs) {
    const Status status = job.copy->coded ? enqueue(*job.copy->coded, job.to, job.from, stream)
                                          : add(waiting, *job.copy, job.to, job.from);
    if (status != success) return status;
  }
  stored = signals.count > 0 && waiting.signals();
  return waiting.launch(stored ? signals : KernelSignals{});
}

}  // namespace weft::gpus
