// NVIDIA by CUDA. A device is the context that is current in the calling thread while it plans; for users of
// CUDA's runtime that is the primary context. Functions of the driver that have no counterpart in the
// runtime are looked up through the runtime and not linked, so that a machine without a driver can load Weft.
#include "device/gpu/maker.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "weft/error.hpp"

namespace weft::gpus {

namespace {

struct Driver {
  decltype(&::cuGetErrorString) error_string;
  decltype(&::cuCtxGetCurrent) current_context;
  decltype(&::cuCtxPushCurrent) push_context;
  decltype(&::cuCtxPopCurrent) pop_context;
  decltype(&::cuPointerGetAttributes) pointer_attributes;
  decltype(&::cuStreamBatchMemOp) memory_operations;
};

/// The version of the driver's interface that this code is written for.
constexpr unsigned version = 12000;

template <class Function>
void find(Function& function, const char* name_of_function, std::string& missing) {
  cudaDriverEntryPointQueryResult result{};
  void* address = nullptr;
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name_of_function, &address, version, cudaEnableDefault, &result);
  if (status != cudaSuccess || result != cudaDriverEntryPointSuccess || address == nullptr) {
    missing = std::string("the driver lacks ") + name_of_function + ", CUDA 12 or later is needed";
    return;
  }
  function = reinterpret_cast<Function>(address);
}

std::string text_of(int version_number) {
  return std::to_string(version_number / 1000) + "." + std::to_string(version_number % 1000 / 10);
}

/// The reason in words. CUDA's own text speaks of an old driver even where none is installed.
std::string reason_of(cudaError_t status) {
  int driver = 0;
  if (status != cudaErrorInsufficientDriver || cudaDriverGetVersion(&driver) != cudaSuccess)
    return cudaGetErrorString(status);
  if (driver == 0) return "no NVIDIA driver is installed";
  return "the NVIDIA driver is for CUDA " + text_of(driver) + ", and this Weft was built with CUDA " +
         text_of(CUDART_VERSION);
}

struct Found {
  Driver driver{};
  std::string missing;

  Found() {
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status != cudaSuccess || devices == 0) {
      cudaGetLastError();  // clears it, so that the user's next call does not report it
      missing = status != cudaSuccess ? reason_of(status) : "no GPU is visible";
      return;
    }
    find(driver.error_string, "cuGetErrorString", missing);
    find(driver.current_context, "cuCtxGetCurrent", missing);
    find(driver.push_context, "cuCtxPushCurrent", missing);
    find(driver.pop_context, "cuCtxPopCurrent", missing);
    find(driver.pointer_attributes, "cuPointerGetAttributes", missing);
    find(driver.memory_operations, "cuStreamBatchMemOp", missing);
  }
};

const Found& found() {
  static const Found instance;
  return instance;
}

[[noreturn]] void fail(const char* call, const std::string& message) {
  throw Error(std::string("cuda: ") + call, message, "success");
}

/// Throws `weft::Error` if no device can be used.
const Driver& driver() {
  if (!missing().empty()) fail("driver", missing());
  return found().driver;
}

void check(CUresult status, const char* call) {
  if (status == CUDA_SUCCESS) return;
  const char* text = nullptr;
  driver().error_string(status, &text);
  fail(call, text != nullptr ? text : "error " + std::to_string(status));
}

Pointer look_by(decltype(&::cuPointerGetAttributes) attributes, const void* pointer) {
  unsigned type = 0, managed = 0;
  Pointer p;
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                  CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void* values[] = {&type, &p.ordinal, &managed};
  const auto at = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(pointer));
  if (attributes(3, wanted, values, at) != CUDA_SUCCESS) return {};
  p.on_device = type == CU_MEMORYTYPE_DEVICE;
  p.managed = managed != 0;
  return p;
}

/// The function of the driver that this process has loaded; null without a driver.
std::atomic<decltype(&::cuPointerGetAttributes)> known_attributes{nullptr};

/// Flags in one call, in an array on the stack. CUDA takes up to 256.
constexpr std::size_t flags_at_once = 32;

CUstreamBatchMemOpParams operation_of(const DeviceFlag& flag) {
  const auto at = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(flag.at));
  CUstreamBatchMemOpParams operation{};
  if (flag.waits) {
    operation.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    operation.waitValue.address = at;
    operation.waitValue.value = flag.bits;
    operation.waitValue.flags = CU_STREAM_WAIT_VALUE_AND;
  } else {
    operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operation.writeValue.address = at;
    operation.writeValue.value = flag.bits;
    operation.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
  }
  return operation;
}

}  // namespace

const char* const name = "cuda";
const char* const multiprocessors = "multiprocessors";
const bool captures_flags = true, kernels_store_flags = true;

const std::string& missing() {
  return found().missing;
}

Place current_place() {
  CUcontext context = nullptr;
  check(driver().current_context(&context), "cuCtxGetCurrent");
  int ordinal = 0;
  WEFT_GPU_CALL(GetDevice, &ordinal);
  if (context == nullptr) {
    // The program has not chosen a device yet: it gets the runtime's default.
    WEFT_GPU_CALL(SetDevice, ordinal);
    check(driver().current_context(&context), "cuCtxGetCurrent");
  }
  return {context, ordinal};
}

void enter(const Place& place) {
  check(driver().push_context(static_cast<CUcontext>(place.context)), "cuCtxPushCurrent");
}

bool try_enter(const Place& place) noexcept {
  return found().driver.push_context(static_cast<CUcontext>(place.context)) == CUDA_SUCCESS;
}

void leave() noexcept {
  CUcontext before = nullptr;
  found().driver.pop_context(&before);
}

DeviceId id_of(int ordinal) {
  cudaDeviceProp properties{};
  WEFT_GPU_CALL(GetDeviceProperties, &properties, ordinal);
  DeviceId id;
  static_assert(sizeof id == sizeof properties.uuid.bytes);
  std::memcpy(id.data(), properties.uuid.bytes, sizeof id);
  return id;
}

Pointer look_at(const void* pointer) {
  return look_by(driver().pointer_attributes, pointer);
}

void notice() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return;
  known_attributes =
      reinterpret_cast<decltype(&::cuPointerGetAttributes)>(dlsym(library, "cuPointerGetAttributes"));
  dlclose(library);
}

Pointer look_at_noticed(const void* pointer) {
  const auto attributes = known_attributes.load(std::memory_order_acquire);
  return attributes == nullptr ? Pointer{} : look_by(attributes, pointer);
}

// Always the batch call, even for one flag, because graphs can capture it.
void enqueue_flags(std::span<const DeviceFlag> flags, StreamHandle stream) {
  std::array<CUstreamBatchMemOpParams, flags_at_once> batch{};
  for (std::size_t done = 0; done < flags.size(); done += batch.size()) {
    const std::size_t count = std::min(batch.size(), flags.size() - done);
    for (std::size_t i = 0; i < count; ++i) batch[i] = operation_of(flags[done + i]);
    check(driver().memory_operations(stream, static_cast<unsigned>(count), batch.data(), 0),
          "cuStreamBatchMemOp");
  }
}

Status allocate_pinned(void** memory, std::size_t bytes) {
  return cudaHostAlloc(memory, bytes, cudaHostAllocPortable);
}

void free_pinned(void* memory) {
  cudaFreeHost(memory);
}

Status update_graph(cudaGraphExec_t executable, cudaGraph_t captured) {
  cudaGraphExecUpdateResultInfo result{};
  return cudaGraphExecUpdate(executable, captured, &result);
}

// NVTX looks for a profiler in the first call, which happens while planning. Without one later calls cost a
// comparison.
void begin_range(const char* text) {
  nvtxRangePushA(text);
}

void end_range() {
  nvtxRangePop();
}

}  // namespace weft::gpus
