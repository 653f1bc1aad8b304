#include "support/scarce_devices.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>

#include "base/text.hpp"
#include "device/device.hpp"
#include "weft/error.hpp"

namespace weft::test {

namespace {

thread_local Refusals* of_thread = nullptr;
const DeviceRow* in_front_of = nullptr;

struct Counts {
  std::atomic<long> memories{0}, pinned{0}, mapped{0};
  std::atomic<std::size_t> bytes{0};
} counts;

bool is_refused() {
  return of_thread != nullptr && of_thread->refuses_next();
}

/// With the words of CUDA's errors.
void grant(const char* call) {
  if (is_refused()) throw Error(call, "out of memory", "success");
}

/// Memory that counts as in use as long as somebody has it.
std::shared_ptr<std::byte> counted(std::shared_ptr<std::byte> memory, std::atomic<long>& count,
                                   std::size_t bytes = 0) {
  if (!memory) return memory;
  ++count;
  counts.bytes += bytes;
  std::byte* const at = memory.get();
  return {at, [memory = std::move(memory), &count, bytes](std::byte*) mutable {
            memory.reset();
            --count;
            counts.bytes -= bytes;
          }};
}

class Scarce final : public Device {
 public:
  explicit Scarce(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  const std::string& name() const override { return device_->name(); }
  const std::string& model() const override { return device_->model(); }
  DeviceId id() const override { return device_->id(); }
  const std::string& pci_address() const override { return device_->pci_address(); }
  int most_line_parts() const override { return device_->most_line_parts(); }
  bool captures_flags() const override { return device_->captures_flags(); }
  void enter() override { device_->enter(); }
  void leave() noexcept override { device_->leave(); }
  bool reaches(const DeviceId& other) const override { return device_->reaches(other); }
  void connect(const DeviceId& other) override { device_->connect(other); }

  std::shared_ptr<std::byte> allocate(std::size_t bytes, const char* operation) override {
    if (bytes > 0 && is_refused())
      throw Error(operation, "no memory for " + human_bytes(static_cast<double>(bytes)) + " on " + name(),
                  "fewer points per rank");
    return counted(device_->allocate(bytes, operation), counts.memories, bytes);
  }
  double free_bytes() const override { return device_->free_bytes(); }
  double total_bytes() const override { return device_->total_bytes(); }
  std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes, const char* operation) override {
    if (bytes > 0 && is_refused())
      throw Error(operation, "no pinned memory for " + human_bytes(static_cast<double>(bytes)),
                  "fewer points per rank");
    return counted(device_->allocate_pinned(bytes, operation), counts.pinned);
  }
  DeviceMemoryHandle give(const std::byte* memory) override { return device_->give(memory); }
  std::shared_ptr<std::byte> take(const DeviceMemoryHandle& handle) override {
    grant("cuda: cudaIpcOpenMemHandle");
    return counted(device_->take(handle), counts.mapped);
  }
  bool holds(const void* pointer) const override { return device_->holds(pointer); }

  std::unique_ptr<DeviceStream> make_stream(bool first) override {
    grant("cuda: cudaStreamCreateWithPriority");
    return device_->make_stream(first);
  }
  std::unique_ptr<DeviceStream> borrow_stream(void* native) override {
    return device_->borrow_stream(native);
  }
  std::unique_ptr<DeviceEvent> make_event(bool timed) override {
    grant("cuda: cudaEventCreateWithFlags");
    return device_->make_event(timed);
  }
  bool passed(const DeviceEvent& event) const override { return device_->passed(event); }
  void wait_for(const DeviceEvent& event) const override { device_->wait_for(event); }
  double seconds_between(const DeviceEvent& begin, const DeviceEvent& end) const override {
    return device_->seconds_between(begin, end);
  }

 private:
  std::shared_ptr<Device> device_;
};

/// One for each device, for the life of the process.
std::shared_ptr<Device> scarce_device_of_thread() {
  static std::mutex mutex;
  static auto& devices = *new std::map<std::shared_ptr<Device>, std::shared_ptr<Device>>;
  std::shared_ptr<Device> device = in_front_of->current();
  const std::lock_guard lock(mutex);
  std::shared_ptr<Device>& scarce = devices[device];
  if (!scarce) scarce = std::make_shared<Scarce>(std::move(device));
  return scarce;
}

}  // namespace

ScopedRefusals::ScopedRefusals(Refusals& refusals) {
  of_thread = &refusals;
}
ScopedRefusals::~ScopedRefusals() {
  of_thread = nullptr;
}

void PrintTo(const DevicesInUse& used, std::ostream* out) {
  *out << used.memories << " memories of " << used.bytes << " bytes, " << used.pinned << " pinned, "
       << used.mapped << " of other processes";
}

ScarceDevices::ScarceDevices() {
  static DeviceRow row;
  in_front_of = device_row();
  row = *in_front_of;
  row.current = scarce_device_of_thread;
  replace_device_row(&row);
}
ScarceDevices::~ScarceDevices() {
  replace_device_row(in_front_of);
}

DevicesInUse ScarceDevices::in_use() {
  return {counts.memories, counts.pinned, counts.mapped, counts.bytes};
}

}  // namespace weft::test
