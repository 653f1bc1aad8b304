#include "support/device_double.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>

#include "device/device.hpp"
#include "support/double_fft.hpp"
#include "support/double_memory.hpp"
#include "support/double_stream.hpp"
#include "support/wait_until.hpp"
#include "weft/error.hpp"

namespace weft::test {

using namespace device_double;

namespace {

thread_local int current_number = 0;

class Double final : public Device, public Owner {
 public:
  explicit Double(int number)
      : number_(number),
        name_("double (device " + std::to_string(number) + ")"),
        pci_address_("0000:00:00." + std::to_string(number)) {}

  int number() const override { return number_; }
  const std::string& name() const override { return name_; }
  const std::string& model() const override { return manner().model; }
  const std::string& pci_address() const override { return pci_address_; }
  int most_line_parts() const override { return weft::most_line_parts; }
  bool captures_flags() const override { return true; }
  DeviceId id() const override {
    DeviceId id{};
    id[0] = static_cast<unsigned char>(number_ + 1);
    return id;
  }
  void enter() override {
    const Aside aside;
    entered().push_back(number_);
  }
  void leave() noexcept override { entered().pop_back(); }
  bool reaches(const DeviceId& other) const override {
    return manner().reach == 0 || (other[0] - 1) / manner().reach == number_ / manner().reach;
  }
  void connect(const DeviceId& other) override {
    if (!reaches(other)) fail("connecting devices that do not reach each other");
    const std::lock_guard lock(mutex_);
    connected_[other[0] - 1] = true;
  }
  bool is_connected(int other) override {
    const std::lock_guard lock(mutex_);
    return other == number_ || connected_[other];
  }

  std::shared_ptr<std::byte> allocate(std::size_t bytes, const char* operation) override {
    check_not_capturing();
    if (manner().room > 0 && Memory::of_process().used(number_) + bytes > manner().room)
      throw Error(operation, "no memory for " + std::to_string(bytes) + " bytes on " + name_,
                  "fewer points per rank");
    return manner().processes ? get_for_processes(bytes) : get(bytes, number_);
  }
  double free_bytes() const override {
    if (manner().room == 0) return std::numeric_limits<double>::infinity();
    return static_cast<double>(manner().room) - static_cast<double>(Memory::of_process().used(number_));
  }
  double total_bytes() const override {
    if (manner().room == 0) return std::numeric_limits<double>::infinity();
    return static_cast<double>(manner().room);
  }
  std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes, const char*) override {
    check_not_capturing();
    if (manner().pins != nullptr) manner().pins();
    return get(bytes, Memory::pinned);
  }
  DeviceMemoryHandle give(const std::byte* memory) override {
    DeviceMemoryHandle handle{};
    const Given given = Giving::of_process().at(memory);
    std::memcpy(handle.data(), &given, sizeof given);
    return handle;
  }
  std::shared_ptr<std::byte> take(const DeviceMemoryHandle& handle) override {
    Given given;
    std::memcpy(&given, handle.data(), sizeof given);
    if (given.process == getpid()) fail("taking memory of the same process");
    std::byte* const memory = map(given);
    Memory::of_process().add(memory, given.bytes, given.device);
    return {memory, [bytes = given.bytes](std::byte* p) {
              Memory::of_process().remove(p);
              munmap(p, bytes);
            }};
  }
  bool holds(const void* pointer) const override { return Memory::of_process().owner(pointer) == number_; }

  std::unique_ptr<DeviceStream> make_stream(bool) override {
    return std::make_unique<Stream>(*this, std::make_shared<Queue>(++seed_), false);
  }
  std::unique_ptr<DeviceStream> borrow_stream(void* native) override {
    if (native != nullptr)
      return std::make_unique<Stream>(*this, *static_cast<std::shared_ptr<Queue>*>(native), true);
    const std::lock_guard lock(mutex_);
    if (!standard_) standard_ = std::make_shared<Queue>(++seed_);
    return std::make_unique<Stream>(*this, standard_, true);
  }
  std::unique_ptr<DeviceEvent> make_event(bool) override { return std::make_unique<Event>(); }
  bool passed(const DeviceEvent& event) const override {
    check_not_capturing();
    if (Event::of(event).recording) fail("asking for an event that was captured");
    return Event::of(event).passed >= Event::of(event).recorded;
  }
  void wait_for(const DeviceEvent& event) const override {
    wait_until([&] { return passed(event); });
  }
  double seconds_between(const DeviceEvent& begin, const DeviceEvent& end) const override {
    return std::chrono::duration<double>(Clock::duration(Event::of(end).at - Event::of(begin).at)).count();
  }

 private:
  static void check_not_capturing() {
    if (capturing()) fail("memory or an answer of the device during a capture");
  }

  static std::shared_ptr<std::byte> get(std::size_t bytes, int owner) {
    if (bytes == 0) return nullptr;
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    std::memset(memory, 0xcd, bytes);
    Memory::of_process().add(memory, bytes, owner);
    return {memory, [](std::byte* p) {
              Memory::of_process().remove(p);
              std::free(p);
            }};
  }

  std::shared_ptr<std::byte> get_for_processes(std::size_t bytes) const {
    if (bytes == 0) return nullptr;
    const Given given{getpid(), memfd_create("device double", MFD_CLOEXEC), number_, bytes};
    if (given.file < 0 || ftruncate(given.file, static_cast<off_t>(bytes)) != 0)
      fail("no memory to be shared");
    std::byte* const memory = map(given);
    std::memset(memory, 0xcd, bytes);
    Memory::of_process().add(memory, bytes, number_);
    Giving::of_process().add(memory, given);
    return {memory, [given](std::byte* p) {
              Memory::of_process().remove(p);
              Giving::of_process().remove(p);
              munmap(p, given.bytes);
              close(given.file);
            }};
  }

  int number_;
  std::string name_, pci_address_;
  std::mutex mutex_;
  std::map<int, bool> connected_;
  std::shared_ptr<Queue> standard_;
  std::atomic<unsigned> seed_{0};
};

std::shared_ptr<Device> device_of_thread() {
  static std::mutex mutex;
  static std::map<int, std::shared_ptr<Double>> devices;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Double>& device = devices[current_number];
  if (!device) device = std::make_shared<Double>(current_number);
  return device;
}

/// As with a driver, whose memory is known only once it has been looked for.
std::atomic<bool> noticed{false};

void tell_range(const char* name) {
  if (manner().range != nullptr) manner().range(name);
}

}  // namespace

ScopedDeviceDouble::ScopedDeviceDouble(const DoubleManner& m) {
  static const FftRow fft = fft_row();
  static const DeviceRow row{
      .name = "double",
      .missing = [] { return manner().missing; },
      .current = device_of_thread,
      .notice = [] { noticed = true; },
      .holds = [](const void* p) { return noticed && Memory::of_process().owner(p) >= 0; },
      .begin_range = tell_range,
      .end_range = [] { tell_range(nullptr); }};
  before_ = set_manner(keep(m));
  noticed = false;
  replace_device_row(&row);
  replace_device_fft(&fft);
}

ScopedDeviceDouble::~ScopedDeviceDouble() {
  replace_device_row(nullptr);
  replace_device_fft(nullptr);
  set_manner(before_);
}

void run_on_double_stream(void* native, std::function<void()> job) {
  (*static_cast<std::shared_ptr<Queue>*>(native))->push(std::move(job));
}

long live_double_objects() {
  return live_objects();
}

void set_double_device(int number) {
  current_number = number;
}

}  // namespace weft::test
