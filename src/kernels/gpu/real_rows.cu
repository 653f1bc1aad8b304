// FFTs of rows of real numbers (kernels/lines/real_rows.hpp). A block of threads has several rows in shared
// memory, as with complex ones (lines.cu).
#include "kernels/gpu/line_blocks.hpp"
#include "kernels/lines/real_rows.hpp"

namespace weft::gpus::line_blocks {

namespace {

template <class Value, lines::AtOnce at_once, RealRows reals, class Form>
__global__ void __launch_bounds__(threads, blocks_together)
    transform_real_rows(const WEFT_GRID_CONSTANT Form form, lines::Tile at,
                        lines::Line<lines::real_of<Value>, at_once> line,
                        const lines::Roots<lines::real_of<Value>> roots) {
  extern __shared__ __align__(16) unsigned char shared[];
  const std::uint32_t start = blockIdx.x * at.columns(), columns = min(at.columns(), form.lines - start);
  const std::uint32_t column = threadIdx.x & (at.columns() - 1);
  Value* const tile = reinterpret_cast<Value*>(shared);
  if constexpr (reals == RealRows::read)
    lines::run_first_by_points(form, start, columns, threadIdx.x, blockDim.x, at, tile, line, roots);
  else
    lines::run_first_of_modes(form, start, columns, threadIdx.x, blockDim.x, at, tile, line, roots);
  const auto mine = at.column<true>(tile, column);
  run_middle(form, blockDim.x, column < columns, mine, line, roots);
  if constexpr (reals == RealRows::stored) {
    lines::run_last_by_points(form, start, columns, threadIdx.x, blockDim.x, at, tile, line, roots);
  } else if constexpr (lines::leaves_results<Form>()) {
    if (column < columns)
      lines::run_stage<lines::Role::last_kept>(form, form.stage_count() - 1, threadIdx.x >> at.shift,
                                               blockDim.x >> at.shift, mine, line, roots);
    __syncthreads();
    lines::store_modes_of_reals(form, start, columns, threadIdx.x, blockDim.x, at, tile, line, roots);
  } else {
    lines::run_last_to_modes(form, start, columns, threadIdx.x, blockDim.x, at, tile, line, roots);
  }
}

template <class Value, RealRows reals, lines::AtOnce at_once>
Status launch(const LineStep& step, const LineArrays& arrays,
              const lines::Line<lines::real_of<Value>, at_once>& line, StreamHandle stream) {
  return lines::with_form_of_real_rows<Divisor, reals>(step, [&]<class Form>(std::type_identity<Form>) {
    static KnownBytes known;
    return launch_blocks<Value, Form>(transform_real_rows<Value, at_once, reals, Form>, known, step, arrays,
                                      line, stream);
  });
}

template <class Value>
Status launch(const LineStep& step, const LineArrays& arrays, StreamHandle stream) {
  constexpr bool in_pairs = lines::lines_in<Value> != 1;
  return lines::from_first_line<Value>(
      step, arrays, [&]<lines::AtOnce at_once>(const lines::Line<lines::real_of<Value>, at_once>& line) {
        // Adjacent rows of single precision are never moved at once.
        if constexpr (in_pairs && at_once != lines::AtOnce::none)
          return invalid_configuration;
        else
          return step.real_rows == RealRows::read
                     ? launch<Value, RealRows::read>(step, arrays, line, stream)
                     : launch<Value, RealRows::stored>(step, arrays, line, stream);
      });
}

}  // namespace

Status enqueue_real_rows(const LineStep& step, const LineArrays& arrays, StreamHandle stream) {
  return step.real_bytes == 8 ? launch<lines::Complex<double>>(step, arrays, stream)
                              : launch<lines::Pair<float>>(step, arrays, stream);
}

}  // namespace weft::gpus::line_blocks
