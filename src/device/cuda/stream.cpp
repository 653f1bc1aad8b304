#include "device/cuda/stream.hpp"

#include <cstdint>

#include "device/cuda/driver.hpp"
#include "device/cuda/graph.hpp"
#include "kernels/cuda/permute_copy.hpp"
#include "kernels/cuda/r2r.hpp"

namespace weft::cuda {

namespace {
CUdeviceptr address(const std::byte* at) {
  return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(at));
}
}  // namespace

Event::Event(bool timed) {
  check(cudaEventCreateWithFlags(&event_, timed ? cudaEventDefault : cudaEventDisableTiming),
        "cudaEventCreateWithFlags");
}

Event::~Event() {
  cudaEventDestroy(event_);
}

Stream::Stream() : own_(true) {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
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

void Stream::permute(std::byte* to, const std::byte* from, const DeviceCopy& copy) {
  const PermuteCopy kernel{copy.loops, copy.element_bytes, copy.factor, copy.real_bytes};
  check(enqueue(kernel, to, from, stream_), "permute-copy kernel");
}

void Stream::r2r(std::byte* to, const std::byte* from, const R2rStep& step) {
  check(enqueue(step, to, from, stream_), "r2r kernel");
}

void Stream::fill(std::byte* at, unsigned char value, std::size_t bytes) {
  check(cudaMemsetAsync(at, value, bytes, stream_), "cudaMemsetAsync");
}

// As a batch of one, which is known to be captured as a node of a graph.
void Stream::write_value(std::byte* at, std::uint32_t value) {
  CUstreamBatchMemOpParams operation{};
  operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operation.writeValue.address = address(at);
  operation.writeValue.value = value;
  operation.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
  check(driver().memory_operations(stream_, 1, &operation, 0), "cuStreamBatchMemOp: write");
}

void Stream::wait_bits(const std::byte* at, std::uint32_t bits) {
  CUstreamBatchMemOpParams operation{};
  operation.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  operation.waitValue.address = address(at);
  operation.waitValue.value = bits;
  operation.waitValue.flags = CU_STREAM_WAIT_VALUE_AND;
  check(driver().memory_operations(stream_, 1, &operation, 0), "cuStreamBatchMemOp: wait");
}

// Relaxed: libraries may load a kernel when it is first used, and other threads do what they like.
void Stream::begin_capture() {
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
}

std::unique_ptr<DeviceGraph> Stream::end_capture() {
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
  return std::make_unique<Graph>(graph);
}

}  // namespace weft::cuda
