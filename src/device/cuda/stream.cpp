#include "device/cuda/stream.hpp"

#include <cstdint>

#include "device/cuda/driver.hpp"
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

void Stream::write_value(std::byte* at, std::uint32_t value) {
  check(driver().write_value(stream_, address(at), value, CU_STREAM_WRITE_VALUE_DEFAULT),
        "cuStreamWriteValue32");
}

void Stream::wait_value(const std::byte* at, std::uint32_t value) {
  check(driver().wait_value(stream_, address(at), value, CU_STREAM_WAIT_VALUE_GEQ), "cuStreamWaitValue32");
}

}  // namespace weft::cuda
