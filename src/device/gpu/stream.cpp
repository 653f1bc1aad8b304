#include "device/gpu/stream.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "device/cuda/driver.hpp"
#include "kernels/gpu/kernels.hpp"

namespace weft::cuda {

namespace {
CUdeviceptr address(const std::byte* at) {
  return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(at));
}

/// Flags in one call, in an array on the stack. CUDA takes up to 256.
constexpr std::size_t flags_at_once = 32;

/// None if there are too many for a kernel.
KernelSignals kernel_signals(const DeviceSignals& signals) {
  KernelSignals stored;
  if (signals.flags.size() > KernelSignals::most) return stored;
  stored.blocks = reinterpret_cast<unsigned*>(signals.count);
  for (const DeviceFlag& flag : signals.flags)
    stored.add(reinterpret_cast<std::uint32_t*>(flag.at), flag.bits);
  return stored;
}

CUstreamBatchMemOpParams operation_of(const DeviceFlag& flag) {
  CUstreamBatchMemOpParams operation{};
  if (flag.waits) {
    operation.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    operation.waitValue.address = address(flag.at);
    operation.waitValue.value = flag.bits;
    operation.waitValue.flags = CU_STREAM_WAIT_VALUE_AND;
  } else {
    operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operation.writeValue.address = address(flag.at);
    operation.writeValue.value = flag.bits;
    operation.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
  }
  return operation;
}

class Graph final : public DeviceGraph {
 public:
  /// Takes ownership of a captured graph.
  explicit Graph(cudaGraph_t captured) : captured_(captured) {}
  ~Graph() override {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(captured_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch(DeviceStream& stream) override {
    if (executable_ == nullptr)
      check(cudaGraphInstantiate(&executable_, captured_, 0), "cudaGraphInstantiate");
    check(cudaGraphLaunch(executable_, static_cast<cudaStream_t>(stream.native())), "cudaGraphLaunch");
  }

  bool update(DeviceGraph& captured) override {
    if (executable_ == nullptr) return false;
    cudaGraphExecUpdateResultInfo result{};
    if (cudaGraphExecUpdate(executable_, static_cast<Graph&>(captured).captured_, &result) == cudaSuccess)
      return true;
    cudaGetLastError();  // clears it, so that the user's next call does not report it
    return false;
  }

 private:
  cudaGraph_t captured_;
  cudaGraphExec_t executable_ = nullptr;  ///< instantiated by the first launch
};
}  // namespace

Event::Event(bool timed) {
  check(cudaEventCreateWithFlags(&event_, timed ? cudaEventDefault : cudaEventDisableTiming),
        "cudaEventCreateWithFlags");
}

Event::~Event() {
  cudaEventDestroy(event_);
}

Stream::Stream(bool first) : own_(true) {
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, first ? greatest : least),
        "cudaStreamCreateWithPriority");
}

Stream::~Stream() {
  if (own_) cudaStreamDestroy(stream_);
}

void Stream::record(DeviceEvent& event) {
  check(cudaEventRecord(Event::of(event), stream_), "cudaEventRecord");
}

void Stream::wait(const DeviceEvent& event) {
  check(cudaStreamWaitEvent(stream_, Event::of(event), 0), "cudaStreamWaitEvent");
}

void Stream::copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "cudaMemcpyAsync");
}

void Stream::copy_rows(std::byte* to, const std::byte* from, const DeviceRows& rows) {
  check(cudaMemcpy2DAsync(to, rows.to_pitch, from, rows.from_pitch, rows.bytes, rows.rows, cudaMemcpyDefault,
                          stream_),
        "cudaMemcpy2DAsync");
}

void Stream::permute(std::span<const DeviceCopyJob> jobs, const DeviceSignals& signals) {
  bool stored = false;
  check(enqueue(jobs, kernel_signals(signals), stored, stream_), "permute-copy kernel");
  if (!stored) flags(signals.flags);
}

void Stream::r2r(std::byte* to, const std::byte* from, const R2rStep& step) {
  check(enqueue(step, to, from, stream_), "r2r kernel");
}

void Stream::lines(const LineArrays& arrays, const LineStep& step, const DeviceSignals& signals) {
  const KernelSignals stored = kernel_signals(signals);
  check(enqueue(step, arrays, stored, stream_), "line FFT kernel");
  if (stored.count == 0) flags(signals.flags);
}

void Stream::elements(std::byte* at, std::byte* other, const ElementStep& step) {
  check(enqueue(step, at, other, stream_), "element kernel");
}

void Stream::fill(std::byte* at, unsigned char value, std::size_t bytes) {
  check(cudaMemsetAsync(at, value, bytes, stream_), "cudaMemsetAsync");
}

// Always the batch call, even for one flag, because graphs can capture it.
void Stream::flags(std::span<const DeviceFlag> flags) {
  std::array<CUstreamBatchMemOpParams, flags_at_once> batch{};
  for (std::size_t done = 0; done < flags.size(); done += batch.size()) {
    const std::size_t count = std::min(batch.size(), flags.size() - done);
    for (std::size_t i = 0; i < count; ++i) batch[i] = operation_of(flags[done + i]);
    check(driver().memory_operations(stream_, static_cast<unsigned>(count), batch.data(), 0),
          "cuStreamBatchMemOp");
  }
}

// Relaxed mode, because libraries may load a kernel at its first use, and other threads may call anything.
void Stream::begin_capture() {
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
}

std::unique_ptr<DeviceGraph> Stream::end_capture() {
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
  return std::make_unique<Graph>(graph);
}

}  // namespace weft::cuda
