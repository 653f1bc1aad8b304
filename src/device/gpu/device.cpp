// The device interface for GPUs, by their runtime and by what their makers have in different ways
// (maker.hpp).
#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "base/text.hpp"
#include "device/gpu/maker.hpp"
#include "device/gpu/stream.hpp"
#include "kernels/gpu/kernels.hpp"
#include "weft/error.hpp"

namespace weft {

namespace gpus {

namespace {

/// Empty if the runtime does not say: nothing but speed depends on it.
std::string pci_address_of(int ordinal) {
  std::array<char, 32> text{};
  if (WEFT_GPU(DeviceGetPCIBusId)(text.data(), static_cast<int>(text.size()), ordinal) != success) {
    static_cast<void>(last_status());
    return "";
  }
  std::string address = text.data();
  for (char& c : address) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return address;
}

/// The ordinal of a device in this process; -1 if the device is not visible to it.
int ordinal_of(const DeviceId& id) {
  int devices = 0;
  WEFT_GPU_CALL(GetDeviceCount, &devices);
  for (int i = 0; i < devices; ++i)
    if (id_of(i) == id) return i;
  return -1;
}

class GpuDevice final : public Device, public std::enable_shared_from_this<GpuDevice> {
 public:
  /// The current device of the thread.
  explicit GpuDevice(const Place& place) : place_(place), ordinal_(place.ordinal) {
    Properties properties{};
    WEFT_GPU_CALL(GetDeviceProperties, &properties, ordinal_);
    name_ = std::string(properties.name) + " (device " + std::to_string(ordinal_) + ")";
    model_ = std::string(properties.name) + ", " + std::to_string(properties.multiProcessorCount) + " " +
             multiprocessors;
    id_ = id_of(ordinal_);
    pci_address_ = pci_address_of(ordinal_);
    check(gpus::most_line_parts(most_line_parts_), "parts of lines");
  }

  const std::string& name() const override { return name_; }
  const std::string& model() const override { return model_; }
  DeviceId id() const override { return id_; }
  const std::string& pci_address() const override { return pci_address_; }
  int most_line_parts() const override { return most_line_parts_; }
  bool captures_flags() const override { return gpus::captures_flags; }

  void enter() override { gpus::enter(place_); }
  void leave() noexcept override { gpus::leave(); }

  bool reaches(const DeviceId& other) const override {
    const int peer = ordinal_of(other);
    if (peer < 0 || peer == ordinal_) return peer == ordinal_;
    int can = 0;
    WEFT_GPU_CALL(DeviceCanAccessPeer, &can, ordinal_, peer);
    return can != 0;
  }

  void connect(const DeviceId& other) override {
    const int peer = ordinal_of(other);
    const std::lock_guard lock(connecting_);
    if (peer == ordinal_ || connected_.contains(peer)) return;
    const Status status = WEFT_GPU(DeviceEnablePeerAccess)(peer, 0);
    if (status == WEFT_GPU(ErrorPeerAccessAlreadyEnabled)) {
      static_cast<void>(last_status());
    } else {
      check(status, WEFT_GPU_NAME(DeviceEnablePeerAccess));
    }
    connected_.insert(peer);
  }

  std::shared_ptr<std::byte> allocate(std::size_t bytes, const char* operation) override {
    if (bytes == 0) return nullptr;
    void* memory = nullptr;
    if (WEFT_GPU(Malloc)(&memory, bytes) != success) {
      static_cast<void>(last_status());
      std::size_t free = 0, total = 0;
      static_cast<void>(WEFT_GPU(MemGetInfo)(&free, &total));
      throw Error(operation,
                  "no memory for " + human_bytes(static_cast<double>(bytes)) + " on " + name_ + ", where " +
                      human_bytes(static_cast<double>(free)) + " are free",
                  "fewer points per rank");
    }
    return owned(memory, [](void* p) { static_cast<void>(WEFT_GPU(Free)(p)); });
  }

  double free_bytes() const override { return free_and_total().first; }
  double total_bytes() const override { return free_and_total().second; }

  std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes, const char* operation) override {
    if (bytes == 0) return nullptr;
    void* memory = nullptr;
    if (gpus::allocate_pinned(&memory, bytes) != success) {
      static_cast<void>(last_status());
      throw Error(operation, "no pinned memory for " + human_bytes(static_cast<double>(bytes)),
                  "fewer points per rank, or a higher limit on locked memory (ulimit -l)");
    }
    return owned(memory, free_pinned);
  }

  DeviceMemoryHandle give(const std::byte* memory) override {
    WEFT_GPU(IpcMemHandle_t) handle{};
    WEFT_GPU_CALL(IpcGetMemHandle, &handle, const_cast<std::byte*>(memory));
    DeviceMemoryHandle given;
    static_assert(sizeof given == sizeof handle);
    std::memcpy(given.data(), &handle, sizeof handle);
    return given;
  }

  std::shared_ptr<std::byte> take(const DeviceMemoryHandle& given) override {
    WEFT_GPU(IpcMemHandle_t) handle{};
    std::memcpy(&handle, given.data(), sizeof handle);
    void* memory = nullptr;
    WEFT_GPU_CALL(IpcOpenMemHandle, &memory, handle, WEFT_GPU(IpcMemLazyEnablePeerAccess));
    return owned(memory, [](void* p) { static_cast<void>(WEFT_GPU(IpcCloseMemHandle)(p)); });
  }

  bool holds(const void* pointer) const override {
    const Pointer p = look_at(pointer);
    return p.on_device && (p.managed || p.ordinal == ordinal_);
  }

  std::unique_ptr<DeviceStream> make_stream(bool first) override { return std::make_unique<Stream>(first); }
  std::unique_ptr<DeviceStream> borrow_stream(void* native) override {
    return std::make_unique<Stream>(static_cast<StreamHandle>(native));
  }
  std::unique_ptr<DeviceEvent> make_event(bool timed) override { return std::make_unique<Event>(timed); }
  bool passed(const DeviceEvent& event) const override {
    const Status status = WEFT_GPU(EventQuery)(Event::of(event));
    if (status == WEFT_GPU(ErrorNotReady)) {
      static_cast<void>(last_status());
      return false;
    }
    check(status, WEFT_GPU_NAME(EventQuery));
    return true;
  }
  void wait_for(const DeviceEvent& event) const override {
    WEFT_GPU_CALL(EventSynchronize, Event::of(event));
  }
  double seconds_between(const DeviceEvent& begin, const DeviceEvent& end) const override {
    float milliseconds = 0;
    WEFT_GPU_CALL(EventElapsedTime, &milliseconds, Event::of(begin), Event::of(end));
    return milliseconds * 1e-3;
  }

 private:
  static std::pair<double, double> free_and_total() {
    std::size_t free = 0, total = 0;
    WEFT_GPU_CALL(MemGetInfo, &free, &total);
    return {static_cast<double>(free), static_cast<double>(total)};
  }

  /// Memory that is freed on its own device. After the runtime has shut down that fails, and the memory is
  /// gone already.
  template <class Free>
  std::shared_ptr<std::byte> owned(void* memory, Free free) {
    return {static_cast<std::byte*>(memory), [device = shared_from_this(), free](std::byte* p) {
              if (!try_enter(device->place_)) return;
              free(p);
              gpus::leave();
            }};
  }

  Place place_;
  int ordinal_;
  std::mutex connecting_;
  std::set<int> connected_;  ///< ordinals of devices whose memory this one may access
  std::string name_, model_, pci_address_;
  int most_line_parts_ = 1;
  DeviceId id_{};
};

/// One object per place, for the life of the process.
std::shared_ptr<Device> device_of_thread() {
  const Place place = current_place();
  static std::mutex mutex;
  static std::map<Place, std::shared_ptr<GpuDevice>> devices;
  const std::lock_guard lock(mutex);
  std::shared_ptr<GpuDevice>& device = devices[place];
  if (!device) device = std::make_shared<GpuDevice>(place);
  return device;
}

bool on_any_device(const void* pointer) {
  const Pointer p = look_at_noticed(pointer);
  return p.on_device && !p.managed;
}

}  // namespace

}  // namespace gpus

DeviceRow gpu_row() {
  return {.name = gpus::name,
          .missing = [] { return gpus::missing(); },
          .current = gpus::device_of_thread,
          .notice = gpus::notice,
          .holds = gpus::on_any_device,
          .begin_range = gpus::begin_range,
          .end_range = gpus::end_range};
}

}  // namespace weft
