// One thread handles one complex number; threads have the order of the array, so that adjacent threads access
// adjacent numbers.
#include "kernels/gpu/kernels.hpp"

#include <cstdint>

#include "kernels/gpu/divider.hpp"
#include "kernels/r2r/lines.hpp"

namespace weft::gpus {

namespace {

constexpr int threads = 256;

template <class Position>
using Lines = r2r::View<Position, Divider<Position>>;

template <class Method, class Real, class Position>
__global__ void __launch_bounds__(threads)
    r2r_to_aside(const WEFT_GRID_CONSTANT Lines<Position> lines, r2r::Complex<Real>* aside, const Real* array,
                 Real factor) {
  const Position position = static_cast<Position>(blockIdx.x) * threads + static_cast<Position>(threadIdx.x);
  if (position < lines.total) r2r::to_aside<Method>(lines, position, aside, array, factor);
}

template <class Method, class Real, class Position>
__global__ void __launch_bounds__(threads)
    r2r_to_array(const WEFT_GRID_CONSTANT Lines<Position> lines, Real* array, const r2r::Complex<Real>* aside,
                 Real factor) {
  const Position position = static_cast<Position>(blockIdx.x) * threads + static_cast<Position>(threadIdx.x);
  if (position < lines.total) r2r::to_array<Method>(lines, position, array, aside, factor);
}

template <class Method, class Real, class Position>
Status launch(const R2rStep& step, std::byte* to, const std::byte* from, StreamHandle stream) {
  using Complex = r2r::Complex<Real>;
  const Index blocks = (r2r::count_of(step) + threads - 1) / threads;
  if (blocks > 0x7fffffff) return invalid_configuration;
  const auto grid = static_cast<unsigned>(blocks);
  const Lines<Position> lines(step);
  const auto factor = static_cast<Real>(step.factor);
  if (step.to_aside) {
    r2r_to_aside<Method><<<grid, threads, 0, stream>>>(lines, reinterpret_cast<Complex*>(to),
                                                       reinterpret_cast<const Real*>(from), factor);
  } else {
    r2r_to_array<Method><<<grid, threads, 0, stream>>>(lines, reinterpret_cast<Real*>(to),
                                                       reinterpret_cast<const Complex*>(from), factor);
  }
  return last_status();
}

}  // namespace

Status enqueue(const R2rStep& step, std::byte* to, const std::byte* from, StreamHandle stream) {
  // Positions, those beyond the end in the last block included, have 32 bits if they fit 31, else 64.
  const bool small = r2r::bound_of(step) < (Index{1} << 31) - threads, wide = step.real_bytes == 8;
  return r2r::with_method(step.method, [&]<class Method>(Method) {
    if (small)
      return wide ? launch<Method, double, std::uint32_t>(step, to, from, stream)
                  : launch<Method, float, std::uint32_t>(step, to, from, stream);
    return wide ? launch<Method, double, std::uint64_t>(step, to, from, stream)
                : launch<Method, float, std::uint64_t>(step, to, from, stream);
  });
}

}  // namespace weft::gpus
