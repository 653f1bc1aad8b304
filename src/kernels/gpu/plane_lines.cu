// FFTs along two axes of planes in one launch (kernels/lines/planes.hpp).
#include "kernels/gpu/line_blocks.hpp"
#include "kernels/lines/planes.hpp"

namespace weft::gpus {

namespace {

using namespace line_blocks;
using Order = lines::TileOrder<Divisor>;

/// The largest radix of a kernel of which so many blocks share a multiprocessor.
template <int blocks>
constexpr int most_radix = blocks > blocks_together ? lines::largest_small_radix : lines::largest_radix;

/// One of the two steps.
template <class Value, lines::AtOnce at_once, class Form>
struct Half {
  using Real = lines::real_of<Value>;

  Form form;
  lines::Tile at;
  lines::Line<Real, at_once> line;
  lines::Roots<Real> roots;
  std::uint32_t columns;  ///< of a plane
};

/// Counters of a launch.
struct Counters {
  unsigned *taken, *done, *first, *second;  ///< tiles in all, and of each step and plane those that are done

  Counters(std::byte* memory, Index planes)
      : taken(reinterpret_cast<unsigned*>(memory)),
        done(taken + 1),
        first(taken + 2),
        second(first + planes) {}
};

/// Waits until a counter has a value. What was stored before it was counted is seen afterwards.
__device__ void wait_for(const unsigned* counter, unsigned value) {
  while (*static_cast<const volatile unsigned*>(counter) < value) {
#if defined(__CUDA_ARCH__)
    __nanosleep(20);
#endif
  }
  __threadfence();
}

/// All stages but the first one of lines of real numbers, which are taken apart behind them.
template <class Form, class Value, lines::AtOnce at_once>
__device__ __forceinline__ void finish_reals(const Form& form, bool exists, lines::Column<Value, true> column,
                                             const lines::Line<lines::real_of<Value>, at_once>& line,
                                             const lines::Roots<lines::real_of<Value>>& roots) {
  const std::uint32_t first = threadIdx.x >> column.shift, apart = threads >> column.shift;
  run_middle(form, threads, exists, column, line, roots);
  if (exists)
    lines::run_stage<lines::Role::last_kept>(form, form.stage_count() - 1, first, apart, column, line, roots);
  __syncthreads();
  if (exists) lines::take_apart(form, first, apart, column, line);
}

/// `Reals`: the first step is one of real numbers.
template <class Value, lines::AtOnce at_once, bool Reals, int blocks, class Form>
__global__ void __launch_bounds__(threads, blocks)
    transform_planes(const WEFT_GRID_CONSTANT Half<Value, at_once, Form> first,
                     const WEFT_GRID_CONSTANT Half<Value, at_once, Form> second,
                     const WEFT_GRID_CONSTANT Order order, unsigned planes, unsigned slots,
                     std::int64_t plane_points, const Counters counters) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ unsigned told;  // by the first thread
  if (threadIdx.x == 0) told = atomicAdd(counters.taken, 1u);
  __syncthreads();
  const auto [is_second, plane, number] = order(told);
  if (threadIdx.x == 0) {
    if (is_second)
      wait_for(counters.first + plane, order.tiles_of_plane(false));
    else if (plane >= slots)
      wait_for(counters.second + plane - slots, order.tiles_of_plane(true));
  }
  __syncthreads();

  const Half<Value, at_once, Form>& half = is_second ? second : first;
  const lines::Tile at = is_second ? second.at : first.at;
  const std::int64_t slot = static_cast<std::int64_t>(plane % slots) * plane_points;
  // Chosen number by number, so that these stay in registers.
  lines::Line<lines::real_of<Value>, at_once> line{is_second ? second.line.from + slot : first.line.from,
                                                   is_second ? second.line.to : first.line.to + slot,
                                                   is_second ? second.line.diverted : first.line.diverted};
  lines::Roots<lines::real_of<Value>> roots = first.roots;
  if (is_second) roots = second.roots;
  const std::uint32_t column = threadIdx.x & (at.columns() - 1), start = number * at.columns();
  const std::uint32_t columns = min(at.columns(), half.columns - start);
  const bool exists = column < columns;
  Value* const tile = reinterpret_cast<Value*>(shared);
  const std::uint32_t first_line = plane * half.columns + start;
  const bool of_reals = Reals && !is_second;
  if (of_reals)
    lines::run_first_by_points<lines::Role::first_of_reals>(half.form, first_line, columns, threadIdx.x,
                                                            threads, at, tile, line, roots);
  else
    lines::run_first_by_points(half.form, first_line, columns, threadIdx.x, threads, at, tile, line, roots);
  if (exists) lines::go_to<lines::lines_in<Value>>(half.form, first_line + column, line);
  if (of_reals)
    finish_reals(half.form, exists, at.column<true>(tile, column), line, roots);
  else
    finish<false>(half.form, threads, exists, at.column<true>(tile, column), line, roots);

  __syncthreads();
  if (threadIdx.x == 0) {
    told = 0;
    if (is_second) {
      // What the second step stores is seen when the launch is over. To wait for it here, where it may be on
      // its way to a peer, would keep the block from its multiprocessor.
      if (atomicAdd(counters.second + plane, 1u) + 1 == order.tiles_of_plane(true))
        told = atomicAdd(counters.done, 1u) + 1 == planes ? 1 : 0;
    } else {
      __threadfence();
      atomicAdd(counters.first + plane, 1u);
    }
  }
  __syncthreads();
  if (told == 0) return;  // but for the last tile of the last plane, behind which nobody counts
  for (unsigned i = threadIdx.x; i < 2 + 2 * planes; i += threads) counters.taken[i] = 0;
}

/// Values of a plane.
template <class Value>
Index columns_of(const LineStep& step, Index planes) {
  constexpr Index values = lines::lines_in<Value>;
  Index count = (step.loops[0].n + values - 1) / values;
  for (int i = 1; i < step.count; ++i) count *= step.loops[static_cast<std::size_t>(i)].n;
  return count / planes;
}

/// How many columns a tile of a plane has, as a power of two. Tiles end with the plane: those of the last
/// ones that have no line are lost.
template <class Value>
std::uint32_t shift_of(const LineStep& step, Index planes, Index shared) {
  const Index columns = columns_of<Value>(step, planes);
  std::uint32_t shift = lines::column_shift(step.n, sizeof(Value), columns * planes, shared);
  const auto lost = [&] { return ((columns + (Index{1} << shift) - 1) >> shift << shift) - columns; };
  while (shift > 0 && ((Index{1} << shift) > columns || 8 * lost() > columns)) --shift;
  return shift;
}

template <class Value, lines::AtOnce at_once, bool Reals, int blocks>
Status launch(const PlaneLines& step, const LineArrays& arrays, std::byte* ring, std::byte* memory,
              StreamHandle stream);

template <class Value, lines::AtOnce at_once, bool Reals, int blocks, class Form>
Status launch_as(const PlaneLines& step, const LineArrays& arrays, std::byte* ring, std::byte* memory,
                 StreamHandle stream) {
  using Number = lines::Complex<lines::real_of<Value>>;
  constexpr int values = lines::lines_in<Value>;
  const auto kernel = transform_planes<Value, at_once, Reals, blocks, Form>;
  static KnownBytes known;
  Status error = success;
  const Index bytes = sizeof(Value), of_kernel = 64;
  const Index shared = shared_bytes(reinterpret_cast<const void*>(kernel), of_kernel, known, error);
  if (error != success) return error;
  if constexpr (blocks > blocks_together) {
    const auto fits = [&](const LineStep& of) {
      return lines::three_fit(
          lines::tile_values(of.n, Index{1} << shift_of<Value>(of, step.planes, shared)) * bytes, shared);
    };
    if (!fits(step.first) || !fits(step.second))
      return launch<Value, at_once, Reals, blocks_together>(step, arrays, ring, memory, stream);
  }
  Index most = 0;
  const auto half_of = [&](const LineStep& lines, const LineArrays& between) {
    const Form form(lines, between, values);
    const std::uint32_t shift = shift_of<Value>(lines, step.planes, shared);
    most = std::max(most, lines::tile_values(lines.n, Index{1} << shift) * bytes);
    return Half<Value, at_once, Form>{
        form,
        {shift},
        {reinterpret_cast<const Number*>(between.from), reinterpret_cast<Number*>(between.to),
         reinterpret_cast<Number*>(between.diverted.empty() ? between.to : between.diverted.front())},
        lines::Roots<lines::real_of<Value>>(lines),
        static_cast<std::uint32_t>(columns_of<Value>(lines, step.planes))};
  };
  const auto first = half_of(step.first, {arrays.from, ring, {}});
  const auto second = half_of(step.second, {ring, arrays.to, arrays.diverted});
  if (most > shared) return invalid_configuration;
  const auto tiles = [](const Half<Value, at_once, Form>& half) {
    return (half.columns + half.at.columns() - 1) >> half.at.shift;
  };
  const Order order(step, tiles(first), tiles(second));
  kernel<<<order.count(), threads, static_cast<std::size_t>(most), stream>>>(
      first, second, order, static_cast<unsigned>(step.planes), static_cast<unsigned>(step.slots),
      step.plane_bytes() / static_cast<Index>(sizeof(Number)), Counters(memory, step.planes));
  return last_status();
}

template <class Value, lines::AtOnce at_once, bool Reals, int blocks>
Status launch(const PlaneLines& step, const LineArrays& arrays, std::byte* ring, std::byte* memory,
              StreamHandle stream) {
  if constexpr (blocks > blocks_together)
    if (std::ranges::max(step.first.radices) > most_radix<blocks> ||
        std::ranges::max(step.second.radices) > most_radix<blocks>)
      return launch<Value, at_once, Reals, blocks_together>(step, arrays, ring, memory, stream);
  return lines::with_form_of<Divisor, most_radix<blocks>, lines::lines_in<Value>>(
      step, [&]<class Form>(std::type_identity<Form>) {
        return launch_as<Value, at_once, Reals, blocks, Form>(step, arrays, ring, memory, stream);
      });
}

template <class Value, lines::AtOnce at_once>
Status launch(const PlaneLines& step, const LineArrays& arrays, std::byte* ring, std::byte* memory,
              StreamHandle stream) {
  constexpr int blocks = lines::small_blocks_together;
  return step.first.of_reals ? launch<Value, at_once, true, blocks>(step, arrays, ring, memory, stream)
                             : launch<Value, at_once, false, blocks>(step, arrays, ring, memory, stream);
}

}  // namespace

Status enqueue(const PlaneLines& step, const LineArrays& arrays, std::byte* ring, std::byte* counters,
               StreamHandle stream) {
  using lines::AtOnce;
  if (step.first.real_bytes == 8)
    return launch<lines::Complex<double>, AtOnce::all>(step, arrays, ring, counters, stream);
  using Value = lines::Pair<float>;
  return lines::store_at_once<Value>(step, arrays)
             ? launch<Value, AtOnce::stores>(step, arrays, ring, counters, stream)
             : launch<Value, AtOnce::none>(step, arrays, ring, counters, stream);
}

}  // namespace weft::gpus
