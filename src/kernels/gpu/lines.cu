// FFTs of adjacent lines whose points lie apart. A block of threads has up to 256 columns in shared memory, a
// thread one column and every so many-th butterfly of it. Rows of the tile are 64 bytes or more where there
// is room, since memory is accessed so; two blocks share a multiprocessor, so that one computes while the
// other one reads or writes.
#include "kernels/gpu/line_blocks.hpp"
#include "kernels/gpu/signals.hpp"

namespace weft::gpus {

namespace {

using namespace line_blocks;

/// Which lines blocks of threads have. Where runs of adjacent lines begin on multiples of what is moved at a
/// time, blocks begin with them, and the last one of each may have fewer lines; else all lines are one run.
struct Runs {
  Divider<std::uint32_t> blocks;  ///< of a run
  std::uint32_t lines;            ///< of a run

  __device__ std::uint32_t first(unsigned block, std::uint32_t columns) const {
    const std::uint32_t run = blocks.divide(block);
    return run * lines + (block - run * blocks.divisor()) * columns;
  }
  __device__ std::uint32_t end(unsigned block) const { return (blocks.divide(block) + 1) * lines; }
};

Runs runs_of(const LineStep& step, std::uint32_t lines, std::uint32_t columns, Index bytes) {
  constexpr Index at_a_time = 128;
  const auto blocks = [&](std::uint32_t run) { return (run + columns - 1) / columns; };
  const Index run = step.loops[0].n * 2 * step.real_bytes / bytes;
  bool aligned = step.count > 1 && step.loops[0].n * 2 * step.real_bytes % bytes == 0 &&
                 step.from_stride * 2 * step.real_bytes % at_a_time == 0;
  for (int i = 1; i < step.count; ++i)
    aligned = aligned && step.loops[static_cast<std::size_t>(i)].from * 2 * step.real_bytes % at_a_time == 0;
  const auto length = static_cast<std::uint32_t>(run);
  // Lines that blocks could have beside those of a run are lost.
  const bool few_lost = 16 * (blocks(length) * columns - length) <= length;
  if (!aligned || !few_lost) return {Divider<std::uint32_t>(blocks(lines)), lines};
  return {Divider<std::uint32_t>(blocks(length)), length};
}

/// `Plain`: lines are adjacent in the input, and modes have no factors. A kernel that can do these as well
/// has too few registers for what it computes.
template <class Value, lines::AtOnce at_once, bool Plain>
__global__ void __launch_bounds__(threads, blocks_together)
    transform_lines(const WEFT_GRID_CONSTANT Form<> form, lines::Tile at, const Runs runs,
                    lines::Line<lines::real_of<Value>, at_once> line,
                    const lines::Roots<lines::real_of<Value>> roots,
                    const WEFT_GRID_CONSTANT KernelSignals signals) {
  extern __shared__ __align__(16) unsigned char shared[];
  const std::uint32_t columns = at.columns(), column = threadIdx.x & (columns - 1);
  const std::uint32_t start = runs.first(blockIdx.x, columns), end = runs.end(blockIdx.x);
  const std::uint32_t number = start + column;
  const bool exists = number < end;
  Value* const tile = reinterpret_cast<Value*>(shared);
  const auto mine = at.column<!Plain>(tile, column);
  if (!Plain && form.points_adjacent)
    lines::run_first_by_points(form, start, min(columns, end - start), threadIdx.x, threads, at, tile, line,
                               roots);
  if (exists) lines::go_to<lines::lines_in<Value>>(form, number, line);
  if (exists && (Plain || !form.points_adjacent))
    lines::run_stage<lines::Role::first>(form, 0, threadIdx.x >> at.shift, threads >> at.shift, mine, line,
                                         roots);
  finish<!Plain>(form, exists, mine, line, roots);
  store_signals(signals);
}

/// Lines whose points are adjacent, and whose modes are.
template <class Value, lines::AtOnce at_once>
__global__ void __launch_bounds__(threads, blocks_together)
    transform_rows(const WEFT_GRID_CONSTANT Form<> form, lines::Tile at, const Runs /*one*/,
                   lines::Line<lines::real_of<Value>, at_once> line,
                   const lines::Roots<lines::real_of<Value>> roots,
                   const WEFT_GRID_CONSTANT KernelSignals signals) {
  extern __shared__ __align__(16) unsigned char shared[];
  const std::uint32_t start = blockIdx.x * at.columns(), columns = min(at.columns(), form.lines - start);
  const std::uint32_t column = threadIdx.x & (at.columns() - 1);
  Value* const tile = reinterpret_cast<Value*>(shared);
  lines::run_first_by_points(form, start, columns, threadIdx.x, threads, at, tile, line, roots);
  run_middle(form, column < columns, at.column<true>(tile, column), line, roots);
  lines::run_last_by_points(form, start, columns, threadIdx.x, threads, at, tile, line, roots);
  store_signals(signals);
}

enum class Kind { plain, any, rows };

template <class Value, lines::AtOnce at_once, Kind kind>
Status launch(const LineStep& step, const LineArrays& arrays,
              const lines::Line<lines::real_of<Value>, at_once>& line, const KernelSignals& signals,
              StreamHandle stream) {
  const Form<> form(step, arrays, lines::lines_in<Value>);
  const auto kernel = [] {
    if constexpr (kind == Kind::rows)
      return transform_rows<Value, at_once>;
    else
      return transform_lines<Value, at_once, kind == Kind::plain>;
  }();
  static KnownBytes known;
  Status error = success;
  const Index shared = shared_bytes(reinterpret_cast<const void*>(kernel), 0, known, error),
              bytes = sizeof(Value);
  if (error != success) return error;
  if (step.n * bytes > shared) return invalid_configuration;
  const lines::Tile tile{column_shift(step.n, bytes, form.lines, shared)};
  const Index columns = tile.columns();
  const Runs runs = runs_of(step, form.lines, tile.columns(), bytes);
  const Index blocks = Index{form.lines / runs.lines} * runs.blocks.divisor();
  kernel<<<static_cast<unsigned>(blocks), threads, static_cast<std::size_t>(step.n * columns * bytes),
           stream>>>(form, tile, runs, line, lines::Roots<lines::real_of<Value>>(step), signals);
  return last_status();
}

template <class Value>
Status launch(const LineStep& step, const LineArrays& arrays, const KernelSignals& signals,
              StreamHandle stream) {
  return lines::from_first_line<Value>(
      step, arrays, [&]<lines::AtOnce at_once>(const lines::Line<lines::real_of<Value>, at_once>& line) {
        if (step.of_rows()) return launch<Value, at_once, Kind::rows>(step, arrays, line, signals, stream);
        return step.turn.loop < 0 && step.loops[0].from == 1
                   ? launch<Value, at_once, Kind::plain>(step, arrays, line, signals, stream)
                   : launch<Value, at_once, Kind::any>(step, arrays, line, signals, stream);
      });
}

}  // namespace

Status enqueue(const LineStep& step, const LineArrays& arrays, const KernelSignals& signals,
               StreamHandle stream) {
  return step.real_bytes == 8 ? launch<lines::Complex<double>>(step, arrays, signals, stream)
                              : launch<lines::Pair<float>>(step, arrays, signals, stream);
}

}  // namespace weft::gpus
