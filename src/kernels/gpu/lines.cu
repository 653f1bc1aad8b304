// FFTs of adjacent lines whose points lie apart. A block of threads has up to 256 columns in shared memory, a
// thread one column and every so many-th butterfly of it. Rows of the tile are 64 bytes or more where there
// is room, since memory is accessed so; two blocks share a multiprocessor, so that one computes while the
// other one reads or writes.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>

#include "kernels/gpu/divider.hpp"
#include "kernels/gpu/kernels.hpp"
#include "kernels/gpu/signals.hpp"
#include "kernels/lines/work.hpp"

namespace weft::gpus {

namespace {

constexpr unsigned threads = 256;
constexpr int blocks_together = 2;
constexpr Index least_row = 64, most_tile = 100 << 10;

using Form = lines::Form<Divider<std::uint32_t>>;

/// `Plain`: lines are adjacent in the input, and modes have no factors. A kernel that can do these as well
/// has too few registers for what it computes.
template <class Value, bool AtOnce, bool Plain>
__global__ void __launch_bounds__(threads, blocks_together)
    transform_lines(const WEFT_GRID_CONSTANT Form form, lines::Tile at,
                    lines::Line<lines::real_of<Value>, AtOnce> line,
                    const lines::Roots<lines::real_of<Value>> roots,
                    const WEFT_GRID_CONSTANT KernelSignals signals) {
  using lines::Role;
  extern __shared__ __align__(16) unsigned char shared[];
  const std::uint32_t columns = at.columns(), column = threadIdx.x & (columns - 1);
  const std::uint32_t first = threadIdx.x >> at.shift, apart = threads >> at.shift;
  const std::uint32_t number = blockIdx.x * columns + column;
  const bool exists = number < form.lines;
  Value* const tile = reinterpret_cast<Value*>(shared) + column;
  if (!Plain && form.points_adjacent)
    lines::run_first_by_points(form, blockIdx.x * columns, threadIdx.x, threads, at,
                               reinterpret_cast<Value*>(shared), line, roots);
  if (exists) lines::go_to<lines::lines_in<Value>>(form, number, line);
  if (exists && (Plain || !form.points_adjacent))
    lines::run_stage<Role::first>(form, 0, first, apart, at, tile, line, roots);
  __syncthreads();
  for (int i = 1; i + 1 < form.stages; ++i) {
    if (exists) lines::run_stage<Role::middle>(form, i, first, apart, at, tile, line, roots);
    __syncthreads();
  }
  if (!Plain && form.turn_loop >= 0) {
    if (exists)
      lines::run_stage<Role::last_turned>(form, form.stages - 1, first, apart, at, tile, line, roots);
  } else if (exists) {
    lines::run_stage<Role::last>(form, form.stages - 1, first, apart, at, tile, line, roots);
  }
  store_signals(signals);
}

/// The most shared memory of a block of threads on the current device, which kernels are allowed to use from
/// then on; 0 with an error.
template <class Value, bool AtOnce, bool Plain>
Index shared_bytes(Status& error) {
  constexpr int most_devices = 64;
  static std::atomic<int> known[most_devices];
  int device = 0;
  error = WEFT_GPU(GetDevice)(&device);
  if (error != success) return 0;
  if (device < most_devices)
    if (const int bytes = known[device].load(std::memory_order_relaxed); bytes > 0) return bytes;
  int bytes = 0;
  error = WEFT_GPU(DeviceGetAttribute)(&bytes, most_shared_memory, device);
  if (error == success)
    error = WEFT_GPU(FuncSetAttribute)(reinterpret_cast<const void*>(transform_lines<Value, AtOnce, Plain>),
                                       WEFT_GPU(FuncAttributeMaxDynamicSharedMemorySize), bytes);
  if (error != success) return 0;
  if (device < most_devices) known[device].store(bytes, std::memory_order_relaxed);
  return bytes;
}

/// How many columns a block has, as a power of two: as many as fill half of what there is, and rows of 64
/// bytes if all of it suffices for them; but not so many that blocks are too few for a GPU. Each row of the
/// tile has so many values more.
std::uint32_t column_shift(Index n, Index value_bytes, Index lines, Index shared, Index padding) {
  constexpr Index enough_blocks = 256;
  const Index column = n * value_bytes, row = least_row / value_bytes;
  Index columns = std::min(most_tile, shared / blocks_together) / column - padding;
  columns = std::max(columns, std::min(row, shared / column - padding));
  columns = std::clamp<Index>(columns, 1, threads);
  auto shift = static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(columns)) - 1);
  while ((Index{1} << shift) > row && (lines >> shift) < enough_blocks) --shift;
  return shift;
}

template <class Value, bool AtOnce, bool Plain>
Status launch(const LineStep& step, const LineArrays& arrays,
              const lines::Line<lines::real_of<Value>, AtOnce>& line, const KernelSignals& signals,
              StreamHandle stream) {
  const Form form(step, arrays, lines::lines_in<Value>);
  Status error = success;
  const Index shared = shared_bytes<Value, AtOnce, Plain>(error), bytes = sizeof(Value);
  if (error != success) return error;
  if (step.n * bytes > shared) return invalid_configuration;
  const Index padding = form.points_adjacent && 2 * step.n * bytes <= shared ? 1 : 0;
  const lines::Tile tile{column_shift(step.n, bytes, form.lines, shared, padding),
                         static_cast<std::uint32_t>(padding)};
  const Index columns = tile.columns(), blocks = (form.lines + columns - 1) / columns;
  transform_lines<Value, AtOnce, Plain>
      <<<static_cast<unsigned>(blocks), threads,
         static_cast<std::size_t>(step.n * (columns + padding) * bytes), stream>>>(
          form, tile, line, lines::Roots<lines::real_of<Value>>(step), signals);
  return last_status();
}

template <class Value>
Status launch(const LineStep& step, const LineArrays& arrays, const KernelSignals& signals,
              StreamHandle stream) {
  return lines::from_first_line<Value>(
      step, arrays, [&]<bool AtOnce>(const lines::Line<lines::real_of<Value>, AtOnce>& line) {
        return step.turn.loop < 0 && step.loops[0].from == 1
                   ? launch<Value, AtOnce, true>(step, arrays, line, signals, stream)
                   : launch<Value, AtOnce, false>(step, arrays, line, signals, stream);
      });
}

}  // namespace

Status enqueue(const LineStep& step, const LineArrays& arrays, const KernelSignals& signals,
               StreamHandle stream) {
  return step.real_bytes == 8 ? launch<lines::Complex<double>>(step, arrays, signals, stream)
                              : launch<lines::Pair<float>>(step, arrays, signals, stream);
}

}  // namespace weft::gpus
