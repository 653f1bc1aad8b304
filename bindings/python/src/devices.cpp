// GPUs: which there are, on which one memory lies, and arrays that are given by DLPack. Without CUDA there
// are none, which is no error before one is asked for.
#include "devices.hpp"

#include <nanobind/ndarray.h>

#include <utility>

#include "bindings.hpp"
#include "view.hpp"

#ifdef WEFT_WITH_CUDA
#include <cuda.h>
#include <cuda_runtime_api.h>
#endif

namespace weft::python {

namespace {

using nanobind::arg;

#ifdef WEFT_WITH_CUDA

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

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

CUcontext current_context() {
  static const auto function = driver_function<decltype(&::cuCtxGetCurrent)>("cuCtxGetCurrent");
  CUcontext context = nullptr;
  return function(&context) == CUDA_SUCCESS ? context : nullptr;
}

/// The device of the calling thread: 0 until the program has chosen another one.
int current_device() {
  if (device_count() == 0 || current_context() == nullptr) return 0;
  int device = 0;
  return cudaGetDevice(&device) == cudaSuccess ? device : 0;
}

/// The device whose memory an address is in; -1: none.
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

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw Error(std::string("device: ") + call, cudaGetErrorString(status), "success");
}

/// Work that is enqueued on `later` from now on comes after what has been enqueued on `earlier`.
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

#else

int device_count() {
  return 0;
}
int current_device() {
  return 0;
}
int device_of(std::uintptr_t) {
  return -1;
}
void order_streams(int device, std::uintptr_t, std::uintptr_t) {
  const OnDevice none(device);
}

#endif

/// What a DLPack capsule says of an array: kind of memory and device as DLPack counts them, address, shape,
/// strides in elements, kind of number as NumPy's letter, bytes of an element.
nanobind::tuple imported(const nanobind::object& capsule) {
  nanobind::ndarray<nanobind::ro> array;
  if (!nanobind::try_cast(capsule, array))
    throw Error("plan", "a DLPack capsule that cannot be read", "a new one of an array of numbers");
  nanobind::list shape, strides;
  for (std::size_t a = 0; a < array.ndim(); ++a) {
    shape.append(array.shape(a));
    strides.append(array.stride(a));
  }
  const auto code = static_cast<nanobind::dlpack::dtype_code>(array.dtype().code);
  const char* kind = code == nanobind::dlpack::dtype_code::Float     ? "f"
                     : code == nanobind::dlpack::dtype_code::Complex ? "c"
                                                                     : "V";
  return nanobind::make_tuple(array.device_type(), array.device_id(),
                              reinterpret_cast<std::uintptr_t>(array.data()), nanobind::tuple(shape),
                              nanobind::tuple(strides), kind, array.itemsize());
}

}  // namespace

OnDevice::OnDevice(int device) {
  if (device < 0) return;
#ifdef WEFT_WITH_CUDA
  const int count = device_count();
  if (device >= count)
    throw NoSuchDevice("plan: device", "GPU " + std::to_string(device),
                       count == 0 ? "a machine with a GPU and its driver; CUDA finds none here"
                                  : "one of the " + std::to_string(count) + " that CUDA finds, from 0");
  before_ = current_context();
  check(cudaSetDevice(device), "cudaSetDevice");
  changed_ = true;
#else
  throw NoSuchDevice("plan: device",
                     "GPU " + std::to_string(device) + ", but this Weft was built without CUDA",
                     "a Weft with it: pip install --force-reinstall . -C cmake.define.WEFT_CUDA=ON");
#endif
}

OnDevice::~OnDevice() {
#ifdef WEFT_WITH_CUDA
  if (!changed_) return;
  static const auto function = driver_function<decltype(&::cuCtxSetCurrent)>("cuCtxSetCurrent");
  function(static_cast<CUcontext>(before_));
#endif
}

#ifdef WEFT_WITH_CUDA

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
  if (data_ != nullptr) cudaFree(data_);  // fails after CUDA has shut down, when the memory is gone already
}
void DeviceBuffer::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  if (data_ != nullptr) check(cudaFree(std::exchange(data_, nullptr)), "cudaFree");
  bytes_ = 0;
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

#else  // no object is ever made, as there is no device

OwnStream::OwnStream(int device) : device_(device) {}
OwnStream::~OwnStream() = default;
void OwnStream::wait() const {}
DeviceBuffer::~DeviceBuffer() = default;
void DeviceBuffer::reserve(std::size_t) {}
void copy_axes(const std::vector<CopiedAxis>&, char*, char*, Towards, const OwnStream&) {}

#endif

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void bind_devices(nanobind::module_& module) {
  nanobind::class_<Address>(module, "Address", "Memory: an address, and the object that owns it.")
      .def(
          "__init__",
          [](Address* self, std::uintptr_t at, nanobind::object owner) {
            new (self) Address{at, std::move(owner)};
          },
          arg("at"), arg("owner"));
  module.def("device_count", device_count, "The number of GPUs that CUDA finds; 0 without CUDA.");
  module.def("current_device", current_device, "The GPU of the calling thread; 0 if none was chosen.");
  module.def("device_of", device_of, arg("address"), "The GPU whose memory the address is in; -1: none.");
  module.def(
      "order_streams", order_streams, arg("device"), arg("earlier"), arg("later"),
      "What is enqueued on stream `later` from now on comes after what has been enqueued on `earlier`.");
  module.def("imported", imported, arg("capsule"), "What a DLPack capsule says of an array.");
}

}  // namespace weft::python
