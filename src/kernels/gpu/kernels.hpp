// What runs in kernels on devices: copies between strided boxes, the steps of DCTs and DSTs around their
// FFT, FFTs of lines that lie apart, and what is done with each element of a box. Calls allocate nothing.
#pragma once

#include "kernels/gpu/runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/device_copy.hpp"
#include "kernels/elements/steps.hpp"
#include "kernels/lines/planes.hpp"
#include "kernels/lines/step.hpp"
#include "kernels/r2r/step.hpp"

namespace weft::gpus {

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
/// last launch stores the signals, which not every kernel can.
Status enqueue(std::span<const DeviceCopyJob> jobs, const KernelSignals& signals, bool& stored,
               StreamHandle stream);

/// Enqueues a copy of which one side is coded.
Status enqueue(const DeviceCoding& coding, std::byte* to, const std::byte* from, StreamHandle stream);

/// Enqueues a step of a DCT or DST before or after its FFT.
Status enqueue(const R2rStep& step, std::byte* to, const std::byte* from, StreamHandle stream);

/// How many blocks of threads can share lines on the current device (`LineStep::parts`); 1: none can.
Status most_line_parts(int& parts);

/// Enqueues FFTs of lines whose points lie apart.
Status enqueue(const LineStep& step, const LineArrays& arrays, const KernelSignals& signals,
               StreamHandle stream);

/// Enqueues FFTs along two axes of planes. `ring` has `ring_bytes()` bytes at a multiple of 16, `counters` so
/// many 32-bit numbers.
Status enqueue(const PlaneLines& step, const LineArrays& arrays, std::byte* ring, std::byte* counters,
               StreamHandle stream);

/// Enqueues what is done with each element of a box at `at`; `other` is the second array of steps that have
/// one.
Status enqueue(const ElementStep& step, std::byte* at, std::byte* other, StreamHandle stream);

}  // namespace weft::gpus
