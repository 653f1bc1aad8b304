// AMD by HIP. A device is the one that is current in the calling thread while it plans. Compiled in CI, and
// not yet run on a GPU: docs/adr/0053 says what that leaves open.
#include "device/gpu/maker.hpp"

#include <array>
#include <atomic>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/shared_library.hpp"
#include "weft/error.hpp"

namespace weft::gpus {

namespace {

/// What keeps device `ordinal` from running programs; empty: nothing.
std::string lack_of(int ordinal) {
  int waits = 0;
  if (hipDeviceGetAttribute(&waits, hipDeviceAttributeCanUseStreamWaitValue, ordinal) != hipSuccess)
    static_cast<void>(last_status());
  if (waits != 0) return "";
  return "streams of device " + std::to_string(ordinal) + " cannot wait for flags (hipStreamWaitValue32)";
}

std::string find_missing() {
  int devices = 0;
  const hipError_t status = hipGetDeviceCount(&devices);
  if (status != hipSuccess || devices == 0) {
    static_cast<void>(last_status());  // clears it, so that the user's next call does not report it
    if (status == hipSuccess || status == hipErrorNoDevice) return "no GPU of AMD's is visible";
    return hipGetErrorString(status);
  }
  std::string lack;
  for (int i = 0; i < devices && lack.empty(); ++i) lack = lack_of(i);
  return lack;
}

/// The devices that were current before each `enter` of this thread that has not been left. Weft nests a few.
struct Before {
  std::array<int, 16> devices;
  std::size_t count = 0;
};
thread_local Before before;

/// Whether this process has opened the driver, as HIP and everything else on AMD's GPUs does.
bool uses_devices() {
  std::error_code error;
  std::filesystem::directory_iterator files("/proc/self/fd", error);
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    std::error_code closed;
    if (std::filesystem::read_symlink(files->path(), closed) == "/dev/kfd") return true;
  }
  return false;
}

std::atomic<bool> noticed{false};

/// ROCm's interface for profilers. Without it ranges do nothing.
struct Ranges {
  int (*push)(const char*) = nullptr;
  int (*pop)() = nullptr;

  Ranges() {
    const auto bind = [this](SharedLibrary::Binder& b) {
      b(push, "roctxRangePushA");
      b(pop, "roctxRangePop");
    };
    std::string why;
    for (const char* file : {"libroctx64.so.4", "libroctx64.so.1"}) {
      std::optional<SharedLibrary> library = SharedLibrary::open(file, bind, why);
      if (!library) continue;
      library->keep_open();
      return;
    }
    push = nullptr;
    pop = nullptr;
  }
};

/// Looked for in the first range, which is one of planning.
const Ranges& ranges() {
  static const Ranges instance;
  return instance;
}

}  // namespace

const char* const name = "hip";
const char* const multiprocessors = "compute units";
// HIP enqueues them although the stream is captured. And what a kernel stores in another device's memory is
// written back when it ends, not at a fence within it, unless that memory is fine-grained.
const bool captures_flags = false, kernels_store_flags = false;

const std::string& missing() {
  static const std::string text = find_missing();
  return text;
}

Place current_place() {
  int ordinal = 0;
  WEFT_GPU_CALL(GetDevice, &ordinal);
  return {nullptr, ordinal};
}

void enter(const Place& place) {
  if (before.count == before.devices.size())
    throw Error("hip: enter", "more than " + std::to_string(before.count) + " entries of devices", "fewer");
  int device = 0;
  WEFT_GPU_CALL(GetDevice, &device);
  WEFT_GPU_CALL(SetDevice, place.ordinal);
  before.devices[before.count++] = device;
}

bool try_enter(const Place& place) noexcept {
  try {
    enter(place);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void leave() noexcept {
  if (before.count > 0) static_cast<void>(hipSetDevice(before.devices[--before.count]));
}

DeviceId id_of(int ordinal) {
  hipUUID uuid{};
  WEFT_GPU_CALL(DeviceGetUuid, &uuid, ordinal);
  // Devices without a serial number have the same UUID, and parts of a device the same address.
  std::array<char, sizeof uuid.bytes> address{};
  WEFT_GPU_CALL(DeviceGetPCIBusId, address.data(), static_cast<int>(address.size()), ordinal);
  DeviceId id;
  static_assert(sizeof id == sizeof uuid.bytes);
  for (std::size_t i = 0; i < id.size(); ++i)
    id[i] = static_cast<unsigned char>(static_cast<unsigned char>(uuid.bytes[i]) ^
                                       static_cast<unsigned char>(address[i]));
  return id;
}

Pointer look_at(const void* pointer) {
  hipMemoryType type{};
  unsigned managed = 0;
  Pointer p;
  hipPointer_attribute wanted[] = {HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   HIP_POINTER_ATTRIBUTE_IS_MANAGED};
  void* values[] = {&type, &p.ordinal, &managed};
  if (hipDrvPointerGetAttributes(3, wanted, values, const_cast<void*>(pointer)) != hipSuccess) {
    static_cast<void>(last_status());
    return {};
  }
  p.managed = managed != 0;
  p.on_device = type == hipMemoryTypeDevice || p.managed;
  return p;
}

void notice() {
  noticed.store(uses_devices(), std::memory_order_release);
}

Pointer look_at_noticed(const void* pointer) {
  return noticed.load(std::memory_order_acquire) ? look_at(pointer) : Pointer{};
}

void enqueue_flags(std::span<const DeviceFlag> flags, StreamHandle stream) {
  for (const DeviceFlag& flag : flags) {
    if (flag.waits)
      WEFT_GPU_CALL(StreamWaitValue32, stream, flag.at, flag.bits, hipStreamWaitValueAnd, 0xffffffffU);
    else
      WEFT_GPU_CALL(StreamWriteValue32, stream, flag.at, flag.bits, 0);
  }
}

Status allocate_pinned(void** memory, std::size_t bytes) {
  return hipHostMalloc(memory, bytes, hipHostMallocPortable);
}

void free_pinned(void* memory) {
  static_cast<void>(hipHostFree(memory));
}

Status update_graph(hipGraphExec_t executable, hipGraph_t captured) {
  hipGraphNode_t node{};
  hipGraphExecUpdateResult result{};
  return hipGraphExecUpdate(executable, captured, &node, &result);
}

void begin_range(const char* text) {
  if (ranges().push != nullptr) ranges().push(text);
}

void end_range() {
  if (ranges().pop != nullptr) ranges().pop();
}

}  // namespace weft::gpus
