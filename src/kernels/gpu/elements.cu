// One thread handles one element; threads have the order of the loops, so that adjacent threads access
// adjacent elements.
#include <cstdint>
#include <variant>

#include "kernels/elements/dispatch.hpp"
#include "kernels/gpu/divider.hpp"
#include "kernels/gpu/kernels.hpp"

namespace weft::gpus {

namespace {

constexpr int threads = 256;

template <class Work, class Position>
__global__ void __launch_bounds__(threads)
    each_element(const WEFT_GRID_CONSTANT Work work, std::byte* at, std::byte* other) {
  const Position position = static_cast<Position>(blockIdx.x) * threads + static_cast<Position>(threadIdx.x);
  if (position < work.walk.total) work(position, at, other);
}

template <class Position, class Step>
Status launch(const Step& step, std::byte* at, std::byte* other, StreamHandle stream) {
  return elements::with_work<Position, Divider<Position>>(step, [&]<class Work>(const Work& work) {
    if (work.walk.total == 0) return success;
    const auto blocks = (static_cast<Index>(work.walk.total) + threads - 1) / threads;
    if (blocks > 0x7fffffff) return invalid_configuration;
    each_element<Work, Position><<<static_cast<unsigned>(blocks), threads, 0, stream>>>(work, at, other);
    return last_status();
  });
}

}  // namespace

Status enqueue(const ElementStep& step, std::byte* at, std::byte* other, StreamHandle stream) {
  return std::visit(
      [&](const auto& s) {
        // Positions, those beyond the end in the last block included, have 32 bits if they fit 31, else 64.
        const bool small = elements::bound_of(s) < (Index{1} << 31) - threads;
        return small ? launch<std::uint32_t>(s, at, other, stream)
                     : launch<std::uint64_t>(s, at, other, stream);
      },
      step);
}

}  // namespace weft::gpus
