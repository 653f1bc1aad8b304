// GPUs of CUDA.
#include "devices.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>
#include <utility>

namespace weft::python {

namespace {

/// Functions of the driver, which is not linked: a machine without one loads this module too.
template <class Function>
Function driver_function(const char* name) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult result{};
  if (cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &result) != cudaSuccess ||
      result != cudaDriverEntryPointSuccess)
    throw Error("device", std::string("a driver without ") + name, "the driver of CUDA 12 or later");
  return reinterpret_cast<Function>(address);
}

CUcontext current_context() {
  static const auto function = driver_function<decltype(&::cuCtxGetCurrent)>("cuCtxGetCurrent");
  CUcontext context = nullptr;
  return function(&context) == CUDA_SUCCESS ? context : nullptr;
}

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw Error(std::string("device: ") + call, cudaGetErrorString(status), "success");
}

}  // namespace

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

int current_device() {
  if (device_count() == 0 || current_context() == nullptr) return 0;
  int device = 0;
  return cudaGetDevice(&device) == cudaSuccess ? device : 0;
}

int device_of(std::uintptr_t address) {
  if (device_count() == 0) return -1;
  cudaPointerAttributes attributes{};
  const void* const pointer = reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    cudaGetLastError();
    return -1;
  }
  const bool there = attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return there ? attributes.device : -1;
}

void order_streams(int device, std::uintptr_t earlier, std::uintptr_t later) {
  if (earlier == later) return;
  const OnDevice current(device);
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  // NOLINTBEGIN(performance-no-int-to-ptr)
  cudaError_t status = cudaEventRecord(event, reinterpret_cast<cudaStream_t>(earlier));
  if (status == cudaSuccess) status = cudaStreamWaitEvent(reinterpret_cast<cudaStream_t>(later), event, 0);
  // NOLINTEND(performance-no-int-to-ptr)
  cudaEventDestroy(event);  // CUDA keeps it until it has been passed
  check(status, "cudaStreamWaitEvent");
}

OnDevice::OnDevice(int device) {
  if (device < 0) return;
  const int count = device_count();
  if (device >= count)
    throw Error("plan: device", "GPU " + std::to_string(device),
                count == 0 ? "a machine with a GPU and its driver; CUDA finds none here"
                           : "one of the " + std::to_string(count) + " that CUDA finds, from 0");
  before_ = current_context();
  check(cudaSetDevice(device), "cudaSetDevice");
  changed_ = true;
}

OnDevice::~OnDevice() {
  if (!changed_) return;
  static const auto function = driver_function<decltype(&::cuCtxSetCurrent)>("cuCtxSetCurrent");
  function(static_cast<CUcontext>(before_));
}

OwnStream::OwnStream(int device) : device_(device) {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
}
OwnStream::~OwnStream() {
  try {
    const OnDevice current(device_);
    cudaStreamDestroy(stream_);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): CUDA has shut down, and the stream is gone
  }
}
void OwnStream::wait() const {
  check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

DeviceBuffer::~DeviceBuffer() {
  if (data_ == nullptr) return;
  try {
    const OnDevice current(device_);
    cudaFree(data_);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): CUDA has shut down, and the memory is gone
  }
}
void DeviceBuffer::reserve(int device, std::size_t bytes) {
  if (bytes <= bytes_) return;
  if (data_ != nullptr) check(cudaFree(std::exchange(data_, nullptr)), "cudaFree");
  bytes_ = 0;
  device_ = device;
  check(cudaMalloc(&data_, bytes), "cudaMalloc");
  bytes_ = bytes;
}

void copy_axes(const std::vector<CopiedAxis>& axes, char* host, char* device, Towards towards,
               const OwnStream& stream) {
  if (axes.size() > 2) {
    std::vector<CopiedAxis> inner = axes;
    inner.pop_back();
    const CopiedAxis& outer = axes.back();
    for (Bytes i = 0; i < outer.length; ++i)
      copy_axes(inner, host + i * outer.host_step, device + i * outer.device_step, towards, stream);
    return;
  }
  const bool there = towards == Towards::device;
  const auto width = static_cast<std::size_t>(axes[0].length);
  const CopiedAxis rows = axes.size() > 1 ? axes[1] : CopiedAxis{1, axes[0].length, axes[0].length};
  const auto host_pitch = static_cast<std::size_t>(rows.host_step),
             device_pitch = static_cast<std::size_t>(rows.device_step);
  const auto kind = there ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  constexpr std::size_t widest = std::size_t{1} << 31U;  // of CUDA's pitches
  if (rows.length > 1 && host_pitch < widest && device_pitch < widest) {
    check(cudaMemcpy2DAsync(there ? device : host, there ? device_pitch : host_pitch, there ? host : device,
                            there ? host_pitch : device_pitch, width, static_cast<std::size_t>(rows.length),
                            kind, stream.native()),
          "cudaMemcpy2D");
    return;
  }
  for (Bytes i = 0; i < rows.length; ++i) {
    char *const on_host = host + i * rows.host_step, *const on_device = device + i * rows.device_step;
    check(cudaMemcpyAsync(there ? on_device : on_host, there ? on_host : on_device, width, kind,
                          stream.native()),
          "cudaMemcpy");
  }
}

}  // namespace weft::python
