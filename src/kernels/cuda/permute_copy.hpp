// Copies between any two strided boxes in device memory, by kernels: the loops that a copy has once its axes
// are merged, up to four of them in a launch. Where the fastest axes of the two sides differ, tiles go
// through shared memory, so that both sides are read and written in long runs; else as many elements as fit
// 16 bytes are moved together, and several copies go in one launch. Elements can be multiplied on the way.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/device_copy.hpp"

namespace weft::cuda {

/// Numbers that a launch stores at its end, where devices that see them also see what it has copied.
struct KernelSignals {
  static constexpr std::size_t most = 8;
  unsigned* blocks = nullptr;  ///< of the device's own memory; zero before and afterwards
  int count = 0;
  std::uint32_t* at[most] = {};
  std::uint32_t value[most] = {};

  void add(std::uint32_t* where, std::uint32_t what) {
    at[count] = where;
    value[count++] = what;
  }
};

/// Enqueues them; what one writes none of the others reads or writes. `stored`: whether the last launch
/// stores the signals, which not every one can. Allocates nothing.
cudaError_t enqueue(std::span<const DeviceCopyJob> jobs, const KernelSignals& signals, bool& stored,
                    cudaStream_t stream);

}  // namespace weft::cuda
