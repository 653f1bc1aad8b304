// FFTs of adjacent lines whose points lie apart. A block of threads has up to 256 columns in shared memory, a
// thread one column and every so many-th butterfly of it. Rows of the tile are 64 bytes or more where there
// is room, since memory is accessed so; two blocks share a multiprocessor, so that one computes while the
// other one reads or writes. Blocks of a cluster share longer lines: each has a part of them, and wider rows.
#include "kernels/gpu/clusters.hpp"
#include "kernels/gpu/line_blocks.hpp"
#include "kernels/gpu/signals.hpp"
#include "kernels/lines/parts.hpp"

namespace weft::gpus {

namespace {

using namespace line_blocks;

/// `Plain`: lines are adjacent in the input, and modes have no factors. A kernel that can do these as well
/// has too few registers for what it computes.
template <class Value, lines::AtOnce at_once, bool Plain, class Form>
__global__ void __launch_bounds__(threads, blocks_together)
    transform_lines(const WEFT_GRID_CONSTANT Form form, lines::Tile at,
                    lines::Line<lines::real_of<Value>, at_once> line,
                    const lines::Roots<lines::real_of<Value>> roots,
                    const WEFT_GRID_CONSTANT KernelSignals signals) {
  extern __shared__ __align__(16) unsigned char shared[];
  const std::uint32_t columns = at.columns(), column = threadIdx.x & (columns - 1);
  const std::uint32_t start = blockIdx.x * columns, number = start + column;
  const bool exists = number < form.lines;
  Value* const tile = reinterpret_cast<Value*>(shared);
  const auto mine = at.column<!Plain>(tile, column);
  if (!Plain && form.points_adjacent)
    lines::run_first_by_points(form, start, min(columns, form.lines - start), threadIdx.x, blockDim.x, at,
                               tile, line, roots);
  if (exists) lines::go_to<lines::lines_in<Value>>(form, number, line);
  if (exists && (Plain || !form.points_adjacent))
    lines::run_stage<lines::Role::first>(form, 0, threadIdx.x >> at.shift, blockDim.x >> at.shift, mine, line,
                                         roots);
  finish<!Plain>(form, blockDim.x, exists, mine, line, roots);
  store_signals(signals);
}

/// Lines whose points are adjacent, and whose modes are.
template <class Value, lines::AtOnce at_once, class Form>
__global__ void __launch_bounds__(threads, blocks_together)
    transform_rows(const WEFT_GRID_CONSTANT Form form, lines::Tile at,
                   lines::Line<lines::real_of<Value>, at_once> line,
                   const lines::Roots<lines::real_of<Value>> roots,
                   const WEFT_GRID_CONSTANT KernelSignals signals) {
  extern __shared__ __align__(16) unsigned char shared[];
  const std::uint32_t start = blockIdx.x * at.columns(), columns = min(at.columns(), form.lines - start);
  const std::uint32_t column = threadIdx.x & (at.columns() - 1);
  Value* const tile = reinterpret_cast<Value*>(shared);
  lines::run_first_by_points(form, start, columns, threadIdx.x, blockDim.x, at, tile, line, roots);
  run_middle(form, blockDim.x, column < columns, at.column<true>(tile, column), line, roots);
  lines::run_last_by_points(form, start, columns, threadIdx.x, blockDim.x, at, tile, line, roots);
  store_signals(signals);
}

/// Adjacent lines, of which the blocks of a cluster have a part each (ADR 0076).
template <class Value, lines::AtOnce at_once, class Form>
__global__ void __launch_bounds__(threads, lines::small_blocks_together)
    transform_parts(const WEFT_GRID_CONSTANT Form form, lines::Tile at,
                    lines::Line<lines::real_of<Value>, at_once> line,
                    const lines::Roots<lines::real_of<Value>> roots,
                    const WEFT_GRID_CONSTANT KernelSignals signals) {
  extern __shared__ __align__(16) unsigned char shared[];
  constexpr Cluster cluster;
  const lines::Part part{form.radix(0), cluster.number()};
  const std::uint32_t columns = at.columns(), column = threadIdx.x & (columns - 1);
  const std::uint32_t number = blockIdx.x / part.parts * columns + column;
  const bool exists = number < form.lines;
  Value* const tile = reinterpret_cast<Value*>(shared);
  auto* const table =
      reinterpret_cast<lines::Complex<lines::real_of<Value>>*>(tile + form.below(0) * columns);
  for (std::uint32_t i = threadIdx.x; i < lines::roots_of_part(form); i += threads)
    table[i] = roots.line[lines::root_of_part(form, i)];
  const std::uint32_t first = threadIdx.x >> at.shift, apart = threads >> at.shift;
  if (exists) lines::go_to<lines::lines_in<Value>>(form, number, line);
  // A block may store in another one's memory once that has begun.
  cluster.begin();
  lines::run_first_of_parts<Value>(
      form, part, exists, first, apart,
      [&](std::uint32_t k) { return at.column<false>(cluster.of(tile, k), column); }, line, roots,
      [&] { cluster.wait(); });
  cluster.arrive();
  cluster.wait();
  const auto mine = at.column<false>(tile, column);
  lines::Roots<lines::real_of<Value>> of_part = roots;
  of_part.line = table;
  WEFT_UNROLL for (int i = 1; i + 1 < form.stage_count(); ++i) {
    if (exists) lines::run_stage<lines::Role::middle>(form, i, first, apart, mine, line, of_part, part);
    __syncthreads();
  }
  if (exists)
    lines::run_stage<lines::Role::last>(form, form.stage_count() - 1, first, apart, mine, line, of_part,
                                        part);
  store_signals(signals);
}

/// Of parts with any radices.
using AnyParts = lines::Form<Divisor, lines::largest_small_radix>;

enum class Kind { plain, any, rows };

template <class Value, lines::AtOnce at_once, Kind kind, class Form>
Status launch_as(const LineStep& step, const LineArrays& arrays,
                 const lines::Line<lines::real_of<Value>, at_once>& line, const KernelSignals& signals,
                 StreamHandle stream) {
  const auto kernel = [] {
    if constexpr (kind == Kind::rows)
      return transform_rows<Value, at_once, Form>;
    else
      return transform_lines<Value, at_once, kind == Kind::plain, Form>;
  }();
  static KnownBytes known;
  return launch_blocks<Value, Form>(kernel, known, step, arrays, line, stream, signals);
}

template <class Value, lines::AtOnce at_once, Kind kind>
Status launch(const LineStep& step, const LineArrays& arrays,
              const lines::Line<lines::real_of<Value>, at_once>& line, const KernelSignals& signals,
              StreamHandle stream) {
  // Rows in single precision are never moved at once.
  if constexpr (at_once != lines::AtOnce::all && kind != Kind::rows)
    return launch_as<Value, at_once, kind, lines::Form<Divisor>>(step, arrays, line, signals, stream);
  else
    return lines::with_form_of<Divisor>(step, [&]<class Form>(std::type_identity<Form>) {
      return launch_as<Value, at_once, kind, Form>(step, arrays, line, signals, stream);
    });
}

template <class Value, lines::AtOnce at_once, class Form>
Status launch_parts_as(const LineStep& step, const LineArrays& arrays,
                       const lines::Line<lines::real_of<Value>, at_once>& line, const KernelSignals& signals,
                       StreamHandle stream) {
  const Form form(step, arrays, lines::lines_in<Value>);
  const auto kernel = transform_parts<Value, at_once, Form>;
  static KnownBytes known;
  Status error = success;
  const Index shared = shared_bytes(reinterpret_cast<const void*>(kernel), 0, known, error),
              bytes = sizeof(Value), points = step.n / step.parts;
  if (error != success) return error;
  const lines::Tile tile{lines::part_column_shift(points, bytes, form.lines, shared)};
  const Index needed = points * tile.columns() * bytes +
                       lines::roots_of_part(form) * Index{sizeof(lines::Complex<lines::real_of<Value>>)};
  if (needed > shared) return invalid_configuration;
  const Index groups = (form.lines + tile.columns() - 1) / tile.columns();
  return launch_clusters(kernel, static_cast<unsigned>(groups), static_cast<unsigned>(step.parts), threads,
                         static_cast<std::size_t>(needed), stream, form, tile, line,
                         lines::Roots<lines::real_of<Value>>(step), signals);
}

/// None where tiles have no room for rows as wide as `part_radices` counts on: one block is as fast there.
template <class Value, lines::AtOnce at_once, class Form>
Status most_parts(int& parts) {
  constexpr Index widest_tile = 64 << 10;
  const auto kernel = transform_parts<Value, at_once, Form>;
  const auto* const address = reinterpret_cast<const void*>(kernel);
  static KnownBytes known;
  Status error = success;
  const bool has_room = lines::three_fit(widest_tile, shared_bytes(address, 0, known, error));
  parts = 1;
  return error != success || !has_room ? error : most_of_cluster(address, weft::most_line_parts, parts);
}

template <class Value, lines::AtOnce at_once>
Status launch_parts(const LineStep& step, const LineArrays& arrays,
                    const lines::Line<lines::real_of<Value>, at_once>& line, const KernelSignals& signals,
                    StreamHandle stream) {
  if constexpr (at_once != lines::AtOnce::all)
    return launch_parts_as<Value, at_once, AnyParts>(step, arrays, line, signals, stream);
  else
    return lines::with_form_of_parts<Divisor>(step, [&]<class Form>(std::type_identity<Form>) {
      return launch_parts_as<Value, at_once, Form>(step, arrays, line, signals, stream);
    });
}

template <class Value>
Status launch(const LineStep& step, const LineArrays& arrays, const KernelSignals& signals,
              StreamHandle stream) {
  return lines::from_first_line<Value>(
      step, arrays, [&]<lines::AtOnce at_once>(const lines::Line<lines::real_of<Value>, at_once>& line) {
        if (step.parts > 1) return launch_parts<Value, at_once>(step, arrays, line, signals, stream);
        if (step.of_rows()) return launch<Value, at_once, Kind::rows>(step, arrays, line, signals, stream);
        return step.turn.loop < 0 && step.loops[0].from == 1
                   ? launch<Value, at_once, Kind::plain>(step, arrays, line, signals, stream)
                   : launch<Value, at_once, Kind::any>(step, arrays, line, signals, stream);
      });
}

}  // namespace

Status most_line_parts(int& parts) {
  return most_parts<lines::Complex<double>, lines::AtOnce::all, AnyParts>(parts);
}

Status enqueue(const LineStep& step, const LineArrays& arrays, const KernelSignals& signals,
               StreamHandle stream) {
  if (step.real_rows != RealRows::none) return line_blocks::enqueue_real_rows(step, arrays, stream);
  return step.real_bytes == 8 ? launch<lines::Complex<double>>(step, arrays, signals, stream)
                              : launch<lines::Pair<float>>(step, arrays, signals, stream);
}

}  // namespace weft::gpus
