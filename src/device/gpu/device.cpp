// The device interface for CUDA. A device is the context that is current in the calling thread while it
// plans; for users of CUDA's runtime that is the primary context.
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "base/text.hpp"
#include "device/cuda/driver.hpp"
#include "device/gpu/stream.hpp"
#include "weft/error.hpp"

namespace weft {

namespace cuda {

namespace {

DeviceId id_of(int ordinal) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  DeviceId id;
  static_assert(sizeof id == sizeof properties.uuid.bytes);
  std::memcpy(id.data(), properties.uuid.bytes, sizeof id);
  return id;
}

/// Empty if CUDA does not say: nothing but speed depends on it.
std::string pci_address_of(int ordinal) {
  std::array<char, 32> text{};
  if (cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), ordinal) != cudaSuccess) {
    cudaGetLastError();
    return "";
  }
  std::string address = text.data();
  for (char& c : address) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return address;
}

/// The ordinal of a device in this process; -1 if the device is not visible to it.
int ordinal_of(const DeviceId& id) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  for (int i = 0; i < devices; ++i)
    if (id_of(i) == id) return i;
  return -1;
}

struct Pointer {
  unsigned type = 0;  ///< 0: not known to CUDA
  int ordinal = -1;
  unsigned managed = 0;
};

Pointer look_at(decltype(&::cuPointerGetAttributes) attributes, const void* pointer) {
  Pointer p;
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                  CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void* values[] = {&p.type, &p.ordinal, &p.managed};
  const auto at = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(pointer));
  if (attributes(3, wanted, values, at) != CUDA_SUCCESS) return {};
  return p;
}

class CudaDevice final : public Device, public std::enable_shared_from_this<CudaDevice> {
 public:
  /// The device of the thread's current context.
  explicit CudaDevice(CUcontext context) : context_(context) {
    check(cudaGetDevice(&ordinal_), "cudaGetDevice");
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, ordinal_), "cudaGetDeviceProperties");
    name_ = std::string(properties.name) + " (device " + std::to_string(ordinal_) + ")";
    model_ = std::string(properties.name) + ", " + std::to_string(properties.multiProcessorCount) +
             " multiprocessors";
    id_ = id_of(ordinal_);
    pci_address_ = pci_address_of(ordinal_);
  }

  const std::string& name() const override { return name_; }
  const std::string& model() const override { return model_; }
  DeviceId id() const override { return id_; }
  const std::string& pci_address() const override { return pci_address_; }

  void enter() override { check(driver().push_context(context_), "cuCtxPushCurrent"); }
  void leave() noexcept override {
    CUcontext before = nullptr;
    driver().pop_context(&before);
  }

  bool reaches(const DeviceId& other) const override {
    const int peer = ordinal_of(other);
    if (peer < 0 || peer == ordinal_) return peer == ordinal_;
    int can = 0;
    check(cudaDeviceCanAccessPeer(&can, ordinal_, peer), "cudaDeviceCanAccessPeer");
    return can != 0;
  }

  void connect(const DeviceId& other) override {
    const int peer = ordinal_of(other);
    const std::lock_guard lock(connecting_);
    if (peer == ordinal_ || connected_.contains(peer)) return;
    const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled) {
      cudaGetLastError();
    } else {
      check(status, "cudaDeviceEnablePeerAccess");
    }
    connected_.insert(peer);
  }

  std::shared_ptr<std::byte> allocate(std::size_t bytes, const char* operation) override {
    if (bytes == 0) return nullptr;
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) {
      cudaGetLastError();
      std::size_t free = 0, total = 0;
      cudaMemGetInfo(&free, &total);
      throw Error(operation,
                  "no memory for " + human_bytes(static_cast<double>(bytes)) + " on " + name_ + ", where " +
                      human_bytes(static_cast<double>(free)) + " are free",
                  "fewer points per rank");
    }
    return owned(memory, [](void* p) { cudaFree(p); });
  }

  double free_bytes() const override { return free_and_total().first; }
  double total_bytes() const override { return free_and_total().second; }

  std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes, const char* operation) override {
    if (bytes == 0) return nullptr;
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, bytes, cudaHostAllocPortable) != cudaSuccess) {
      cudaGetLastError();
      throw Error(operation, "no pinned memory for " + human_bytes(static_cast<double>(bytes)),
                  "fewer points per rank, or a higher limit on locked memory (ulimit -l)");
    }
    return owned(memory, [](void* p) { cudaFreeHost(p); });
  }

  DeviceMemoryHandle give(const std::byte* memory) override {
    cudaIpcMemHandle_t handle{};
    check(cudaIpcGetMemHandle(&handle, const_cast<std::byte*>(memory)), "cudaIpcGetMemHandle");
    DeviceMemoryHandle given;
    static_assert(sizeof given == sizeof handle);
    std::memcpy(given.data(), &handle, sizeof handle);
    return given;
  }

  std::shared_ptr<std::byte> take(const DeviceMemoryHandle& given) override {
    cudaIpcMemHandle_t handle{};
    std::memcpy(&handle, given.data(), sizeof handle);
    void* memory = nullptr;
    check(cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess), "cudaIpcOpenMemHandle");
    return owned(memory, [](void* p) { cudaIpcCloseMemHandle(p); });
  }

  bool holds(const void* pointer) const override {
    const Pointer p = look_at(driver().pointer_attributes, pointer);
    return p.type == CU_MEMORYTYPE_DEVICE && (p.managed != 0 || p.ordinal == ordinal_);
  }

  std::unique_ptr<DeviceStream> make_stream(bool first) override { return std::make_unique<Stream>(first); }
  std::unique_ptr<DeviceStream> borrow_stream(void* native) override {
    return std::make_unique<Stream>(static_cast<cudaStream_t>(native));
  }
  std::unique_ptr<DeviceEvent> make_event(bool timed) override { return std::make_unique<Event>(timed); }
  bool passed(const DeviceEvent& event) const override {
    const cudaError_t status = cudaEventQuery(Event::of(event));
    if (status == cudaErrorNotReady) {
      cudaGetLastError();
      return false;
    }
    check(status, "cudaEventQuery");
    return true;
  }
  void wait_for(const DeviceEvent& event) const override {
    check(cudaEventSynchronize(Event::of(event)), "cudaEventSynchronize");
  }
  double seconds_between(const DeviceEvent& begin, const DeviceEvent& end) const override {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, Event::of(begin), Event::of(end)), "cudaEventElapsedTime");
    return milliseconds * 1e-3;
  }

 private:
  static std::pair<double, double> free_and_total() {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return {static_cast<double>(free), static_cast<double>(total)};
  }

  /// Memory that is freed in its own context. After CUDA has shut down that fails, and the memory is gone
  /// already.
  template <class Free>
  std::shared_ptr<std::byte> owned(void* memory, Free free) {
    return {static_cast<std::byte*>(memory), [device = shared_from_this(), free](std::byte* p) {
              if (driver().push_context(device->context_) != CUDA_SUCCESS) return;
              free(p);
              device->leave();
            }};
  }

  CUcontext context_;
  int ordinal_ = 0;
  std::mutex connecting_;
  std::set<int> connected_;  ///< ordinals of devices whose memory this one may access
  std::string name_, model_, pci_address_;
  DeviceId id_{};
};

/// One object per context, for the life of the process.
std::shared_ptr<Device> device_of_thread() {
  CUcontext context = nullptr;
  check(driver().current_context(&context), "cuCtxGetCurrent");
  if (context == nullptr) {
    // The program has not chosen a device yet: it gets the runtime's default.
    int ordinal = 0;
    check(cudaGetDevice(&ordinal), "cudaGetDevice");
    check(cudaSetDevice(ordinal), "cudaSetDevice");
    check(driver().current_context(&context), "cuCtxGetCurrent");
  }
  static std::mutex mutex;
  static std::map<CUcontext, std::shared_ptr<CudaDevice>> devices;
  const std::lock_guard lock(mutex);
  std::shared_ptr<CudaDevice>& device = devices[context];
  if (!device) device = std::make_shared<CudaDevice>(context);
  return device;
}

/// The function of the driver that this process has loaded; null without a driver.
std::atomic<decltype(&::cuPointerGetAttributes)> known_attributes{nullptr};

void notice() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return;
  known_attributes =
      reinterpret_cast<decltype(&::cuPointerGetAttributes)>(dlsym(library, "cuPointerGetAttributes"));
  dlclose(library);
}

bool on_any_device(const void* pointer) {
  const auto attributes = known_attributes.load(std::memory_order_acquire);
  if (attributes == nullptr) return false;
  const Pointer p = look_at(attributes, pointer);
  return p.type == CU_MEMORYTYPE_DEVICE && p.managed == 0;
}

}  // namespace

}  // namespace cuda

DeviceRow cuda_row() {
  return {.name = "cuda",
          .missing = [] { return cuda::missing(); },
          .current = cuda::device_of_thread,
          .notice = cuda::notice,
          .holds = cuda::on_any_device,
          // NVTX looks for a profiler in the first call, which happens while planning. Without one later
          // calls cost a comparison.
          .begin_range = [](const char* name) { nvtxRangePushA(name); },
          .end_range = [] { nvtxRangePop(); }};
}

}  // namespace weft
