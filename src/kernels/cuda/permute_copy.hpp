// Kernels that copy between strided boxes in device memory, with up to four merged loops in a launch. Where
// the fastest axes of source and destination differ, tiles go through shared memory, so that both are
// accessed in long runs. Otherwise up to 16 bytes are moved at once, and several copies share a launch.
// Elements can be multiplied.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/device_copy.hpp"

namespace weft::cuda {

/// Flags that a launch stores at its end. A device that sees a flag also sees the copied data.
struct KernelSignals {
  static constexpr std::size_t most = 8;
  unsigned* blocks = nullptr;  ///< counter in the device's own memory; zero before and after
  int count = 0;
  std::uint32_t* at[most] = {};
  std::uint32_t value[most] = {};

  void add(std::uint32_t* where, std::uint32_t what) {
    at[count] = where;
    value[count++] = what;
  }
};

/// Enqueues copies, none of which may write what another one reads or writes. `stored` becomes true if the
/// last launch stores the signals, which not every kernel can. Allocates nothing.
cudaError_t enqueue(std::span<const DeviceCopyJob> jobs, const KernelSignals& signals, bool& stored,
                    cudaStream_t stream);

}  // namespace weft::cuda
