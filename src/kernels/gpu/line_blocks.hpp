// What kernels of line FFTs share: the stages that a block of threads does, and the memory that it may have.
#pragma once

#include <atomic>
#include <cstdint>

#include "kernels/gpu/divider.hpp"
#include "kernels/gpu/kernels.hpp"
#include "kernels/lines/tiles.hpp"
#include "kernels/lines/work.hpp"

namespace weft::gpus {

namespace line_blocks {

inline constexpr unsigned threads = lines::threads_of_block;
using lines::blocks_together;

using Divisor = Divider<std::uint32_t>;

/// The stages between the first and the last one, of a column of the calling thread if it `exists`. Before
/// and after each, the block waits for all of its threads, of which there are `all`.
template <class Form, class Value, bool Spread, lines::AtOnce at_once>
__device__ __forceinline__ void run_middle(const Form& form, std::uint32_t all, bool exists,
                                           lines::Column<Value, Spread> column,
                                           const lines::Line<lines::real_of<Value>, at_once>& line,
                                           const lines::Roots<lines::real_of<Value>>& roots) {
  __syncthreads();
  if constexpr (Form::Radices::count != 2) {
    for (int i = 1; i + 1 < form.stage_count(); ++i) {
      if (exists)
        lines::run_stage<lines::Role::middle>(form, i, threadIdx.x >> column.shift, all >> column.shift,
                                              column, line, roots);
      __syncthreads();
    }
  }
}

/// All stages but the first one.
template <bool MayTurn, class Form, class Value, bool Spread, lines::AtOnce at_once>
__device__ __forceinline__ void finish(const Form& form, std::uint32_t all, bool exists,
                                       lines::Column<Value, Spread> column,
                                       const lines::Line<lines::real_of<Value>, at_once>& line,
                                       const lines::Roots<lines::real_of<Value>>& roots) {
  using lines::Role;
  const std::uint32_t first = threadIdx.x >> column.shift, apart = all >> column.shift;
  run_middle(form, all, exists, column, line, roots);
  if (!exists) return;
  if (MayTurn && form.turn_loop >= 0)
    lines::run_stage<Role::last_turned>(form, form.stage_count() - 1, first, apart, column, line, roots);
  else
    lines::run_stage<Role::last>(form, form.stage_count() - 1, first, apart, column, line, roots);
}

/// The most shared memory that blocks of a kernel may use on the current device beside `others` bytes, which
/// they are allowed to use from then on; 0 with an error. `known`: of this kernel alone.
constexpr int most_devices = 64;
using KnownBytes = std::atomic<int>[most_devices];
inline Index shared_bytes(const void* kernel, int others, KnownBytes& known, Status& error) {
  int device = 0;
  error = WEFT_GPU(GetDevice)(&device);
  if (error != success) return 0;
  if (device < most_devices)
    if (const int bytes = known[device].load(std::memory_order_relaxed); bytes > 0) return bytes;
  int bytes = 0;
  error = WEFT_GPU(DeviceGetAttribute)(&bytes, most_shared_memory, device);
  bytes -= others;
  if (error == success)
    error = WEFT_GPU(FuncSetAttribute)(kernel, WEFT_GPU(FuncAttributeMaxDynamicSharedMemorySize), bytes);
  if (error != success) return 0;
  if (device < most_devices) known[device].store(bytes, std::memory_order_relaxed);
  return bytes;
}

/// Launches a kernel of lines that blocks do not share. `known`: of this kernel alone; `others`: what it
/// takes behind the roots.
template <class Value, class Form, lines::AtOnce at_once, class Kernel, class... Others>
Status launch_blocks(Kernel kernel, KnownBytes& known, const LineStep& step, const LineArrays& arrays,
                     const lines::Line<lines::real_of<Value>, at_once>& line, StreamHandle stream,
                     const Others&... others) {
  const Form form(step, arrays, lines::lines_in<Value>);
  Status error = success;
  const Index shared = shared_bytes(reinterpret_cast<const void*>(kernel), 0, known, error),
              bytes = sizeof(Value);
  if (error != success) return error;
  const lines::Tile tile{lines::column_shift(step.n, bytes, form.lines, shared)};
  const Index columns = tile.columns(), blocks = (form.lines + columns - 1) / columns;
  const Index needed = lines::tile_values(step.n, columns) * bytes;
  if (needed > shared) return invalid_configuration;
  kernel<<<static_cast<unsigned>(blocks), lines::busy_threads(step, columns),
           static_cast<std::size_t>(needed), stream>>>(form, tile, line,
                                                       lines::Roots<lines::real_of<Value>>(step), others...);
  return last_status();
}

/// Of steps with `LineStep::real_rows`.
Status enqueue_real_rows(const LineStep& step, const LineArrays& arrays, StreamHandle stream);

}  // namespace line_blocks

}  // namespace weft::gpus
