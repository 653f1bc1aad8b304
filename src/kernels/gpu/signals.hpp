// What a launch stores at its end, in flags that other devices may wait for.
#pragma once

#include "kernels/gpu/kernels.hpp"

namespace weft::gpus {

/// Stores the signals. All threads of all blocks call it after their last store.
inline __device__ void store_signals(const KernelSignals& signals) {
  if (signals.count == 0) return;
  __syncthreads();
  if (threadIdx.x != 0) return;
  // All devices see the stores of this block before the count and the flags.
  __threadfence_system();
  if (atomicAdd(signals.blocks, 1u) + 1 != gridDim.x) return;
  *signals.blocks = 0;
  __threadfence_system();
  for (int i = 0; i < signals.count; ++i)
    *static_cast<volatile std::uint32_t*>(signals.at[i]) = signals.value[i];
}

}  // namespace weft::gpus
