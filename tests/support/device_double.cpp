#include "support/device_double.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "device/device.hpp"
#include "fft/embedded_fft.hpp"
#include "kernels/cpu/permute_copy.hpp"
#include "support/embedded_rules.hpp"
#include "weft/error.hpp"

namespace weft::test {

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what) {
  throw Error("device double", what, "what a GPU can do");
}

/// Who has which memory.
class Memory {
 public:
  static constexpr int pinned = -1, nobody = -2;

  void add(const std::byte* at, std::size_t bytes, int owner) {
    const std::lock_guard lock(mutex_);
    all_[at] = {bytes, owner};
    if (owner >= 0) used_[owner] += bytes;
  }
  void remove(const std::byte* at) {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(at);
    if (found->second.owner >= 0) used_[found->second.owner] -= found->second.bytes;
    all_.erase(found);
  }
  std::size_t used(int device) {
    const std::lock_guard lock(mutex_);
    return used_[device];
  }
  int owner(const void* pointer) {
    const std::lock_guard lock(mutex_);
    const auto* at = static_cast<const std::byte*>(pointer);
    auto next = all_.upper_bound(at);
    if (next == all_.begin()) return nobody;
    const auto& [start, block] = *--next;
    return at < start + block.bytes ? block.owner : nobody;
  }
  static Memory& of_process() {
    static Memory memory;
    return memory;
  }

 private:
  struct Block {
    std::size_t bytes;
    int owner;
  };
  std::mutex mutex_;
  std::map<const std::byte*, Block> all_;
  std::map<int, std::size_t> used_;
};

/// Memory as another process finds it.
struct Given {
  pid_t process;
  int file, device;
  std::size_t bytes;
};

std::byte* map(const Given& given) {
  const std::string path = "/proc/" + std::to_string(given.process) + "/fd/" + std::to_string(given.file);
  const bool mine = given.process == getpid();
  const int file = mine ? given.file : open(path.c_str(), O_RDWR | O_CLOEXEC);
  void* const memory = mmap(nullptr, given.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (!mine) close(file);
  if (memory == MAP_FAILED) fail("memory of another process that cannot be mapped");
  return static_cast<std::byte*>(memory);
}

/// What this process may give to others.
class Giving {
 public:
  void add(const std::byte* at, const Given& given) {
    const std::lock_guard lock(mutex_);
    all_[at] = given;
  }
  void remove(const std::byte* at) {
    const std::lock_guard lock(mutex_);
    all_.erase(at);
  }
  Given at(const std::byte* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(memory);
    if (found == all_.end()) fail("giving away what is not the start of memory for other processes");
    return found->second;
  }
  /// Never destroyed: memory may be freed after the end of main.
  static Giving& of_process() {
    static auto* giving = new Giving;
    return *giving;
  }

 private:
  std::mutex mutex_;
  std::map<const std::byte*, Given> all_;
};

DoubleManner& manner() {
  static DoubleManner m;
  return m;
}

/// What a GPU and its driver would do is done by the double for the lifetime of this.
class Aside {
 public:
  Aside() : call_(manner().aside) {
    if (call_ != nullptr) call_(true);
  }
  ~Aside() {
    if (call_ != nullptr) call_(false);
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  void (*call_)(bool);
};

thread_local int current_number = 0;
thread_local std::vector<int> entered;

class Event final : public DeviceEvent {
 public:
  struct State {
    std::atomic<std::uint64_t> recorded{0}, passed{0};
    std::atomic<Clock::duration::rep> at{0};
  };
  std::shared_ptr<State> state = std::make_shared<State>();
  static State& of(const DeviceEvent& event) { return *static_cast<const Event&>(event).state; }
};

/// Work in order, done by a thread.
class Queue {
 public:
  explicit Queue(unsigned seed) : random_(seed), worker_([this] { work(); }) {}
  ~Queue() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void push(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_all();
  }

 private:
  void work() {
    const Aside aside;
    for (;;) {
      std::function<void()> job;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return ending_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      if (manner().delays && random_() % 4 == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(random_() % 300));
      job();
    }
  }

  std::minstd_rand random_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool ending_ = false;
  std::thread worker_;
};

class Double;

class Stream final : public DeviceStream {
 public:
  Stream(Double& device, std::shared_ptr<Queue> queue) : device_(device), queue_(std::move(queue)) {}

  void* native() const override { return const_cast<std::shared_ptr<Queue>*>(&queue_); }
  const std::shared_ptr<Queue>& queue() const { return queue_; }

  void run(std::function<void()> job) {
    check_entered();
    queue_->push(std::move(job));
  }
  void record(DeviceEvent& event) override {
    const Aside aside;
    const auto state = static_cast<Event&>(event).state;
    const std::uint64_t number = ++state->recorded;
    run([state, number] {
      state->at = Clock::now().time_since_epoch().count();
      state->passed = number;
    });
  }
  void wait(const DeviceEvent& event) override {
    const Aside aside;
    const auto state = static_cast<const Event&>(event).state;
    const std::uint64_t number = state->recorded;
    run([state, number] {
      while (state->passed < number) std::this_thread::yield();
    });
  }
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) override {
    const Aside aside;
    check_memory(to, from);
    run([=] { std::memcpy(to, from, bytes); });
  }
  void copy_rows(std::byte* to, const std::byte* from, const DeviceRows& rows) override {
    const Aside aside;
    check_memory(to, from);
    if (rows.from_pitch < rows.bytes || rows.to_pitch < rows.bytes) fail("rows that overlap");
    run([=] {
      for (std::size_t i = 0; i < rows.rows; ++i)
        std::memcpy(to + i * rows.to_pitch, from + i * rows.from_pitch, rows.bytes);
    });
  }
  void permute(std::byte* to, const std::byte* from, const DeviceCopy& copy) override {
    const Aside aside;
    if (copy.loops.empty) return;
    check_memory(to, from);
    const auto unit = static_cast<std::uintptr_t>(copy.element_bytes);
    if (reinterpret_cast<std::uintptr_t>(to) % unit != 0 ||
        reinterpret_cast<std::uintptr_t>(from) % unit != 0)
      fail("elements that are not aligned");
    Shape extents;
    Strides from_strides, to_strides;
    for (int i = 0; i < copy.loops.count; ++i) {
      extents.push_back(copy.loops[i].n);
      from_strides.push_back(copy.loops[i].from);
      to_strides.push_back(copy.loops[i].to);
    }
    const PermuteCopy planned(extents, from_strides, to_strides, copy.element_bytes,
                              {copy.factor, copy.real_bytes});
    run([=] { planned.run(from, to); });
  }
  void fill(std::byte* at, unsigned char value, std::size_t bytes) override {
    const Aside aside;
    check_memory(at, at);
    run([=] { std::memset(at, value, bytes); });
  }
  void write_value(std::byte* at, std::uint32_t value) override {
    const Aside aside;
    check_memory(at, at);
    run([=] { word(at).store(value, std::memory_order_release); });
  }
  void wait_value(const std::byte* at, std::uint32_t value) override;

 private:
  static std::atomic_ref<std::uint32_t> word(const std::byte* at) {
    return std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(const_cast<std::byte*>(at)));
  }
  void check_entered() const;
  void check_memory(const std::byte* to, const std::byte* from) const;

  Double& device_;
  std::shared_ptr<Queue> queue_;
};

class Double final : public Device {
 public:
  explicit Double(int number) : number_(number), name_("double (device " + std::to_string(number) + ")") {}

  int number() const { return number_; }
  const std::string& name() const override { return name_; }
  DeviceId id() const override {
    DeviceId id{};
    id[0] = static_cast<unsigned char>(number_ + 1);
    return id;
  }
  void enter() override {
    const Aside aside;
    entered.push_back(number_);
  }
  void leave() noexcept override { entered.pop_back(); }
  bool reaches(const DeviceId& other) const override { return manner().reach || other == id(); }
  void connect(const DeviceId& other) override {
    if (!reaches(other)) fail("connecting devices that do not reach each other");
    const std::lock_guard lock(mutex_);
    connected_[other[0] - 1] = true;
  }
  bool is_connected(int other) {
    const std::lock_guard lock(mutex_);
    return other == number_ || connected_[other];
  }

  std::shared_ptr<std::byte> allocate(std::size_t bytes, const char* operation) override {
    if (manner().room > 0 && Memory::of_process().used(number_) + bytes > manner().room)
      throw Error(operation, "no memory for " + std::to_string(bytes) + " bytes on " + name_,
                  "fewer points per rank");
    return manner().processes ? get_for_processes(bytes) : get(bytes, number_);
  }
  std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes, const char*) override {
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

  std::unique_ptr<DeviceStream> make_stream() override {
    return std::make_unique<Stream>(*this, std::make_shared<Queue>(++seed_));
  }
  std::unique_ptr<DeviceStream> borrow_stream(void* native) override {
    if (native != nullptr)
      return std::make_unique<Stream>(*this, *static_cast<std::shared_ptr<Queue>*>(native));
    const std::lock_guard lock(mutex_);
    if (!standard_) standard_ = std::make_shared<Queue>(++seed_);
    return std::make_unique<Stream>(*this, standard_);
  }
  std::unique_ptr<DeviceEvent> make_event(bool) override { return std::make_unique<Event>(); }
  bool passed(const DeviceEvent& event) const override {
    return Event::of(event).passed >= Event::of(event).recorded;
  }
  void wait_for(const DeviceEvent& event) const override {
    while (!passed(event)) std::this_thread::yield();
  }
  double seconds_between(const DeviceEvent& begin, const DeviceEvent& end) const override {
    return std::chrono::duration<double>(Clock::duration(Event::of(end).at - Event::of(begin).at)).count();
  }

 private:
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
  std::string name_;
  std::mutex mutex_;
  std::map<int, bool> connected_;
  std::shared_ptr<Queue> standard_;
  std::atomic<unsigned> seed_{0};
};

void Stream::check_entered() const {
  if (entered.empty() || entered.back() != device_.number()) fail("a device that has not been entered");
}

void Stream::check_memory(const std::byte* to, const std::byte* from) const {
  for (const std::byte* at : {to, from}) {
    const int owner = Memory::of_process().owner(at);
    if (owner == Memory::nobody) fail("memory of the host");
    if (owner >= 0 && !device_.is_connected(owner)) fail("memory of a device that is not connected");
  }
}

void Stream::wait_value(const std::byte* at, std::uint32_t value) {
  const Aside aside;
  if (Memory::of_process().owner(at) != device_.number()) fail("waiting in the memory of another device");
  run([=] {
    while (static_cast<std::int32_t>(word(at).load(std::memory_order_acquire) - value) < 0)
      std::this_thread::yield();
  });
}

std::shared_ptr<Device> device_of_thread() {
  static std::mutex mutex;
  static std::map<int, std::shared_ptr<Double>> devices;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Double>& device = devices[current_number];
  if (!device) device = std::make_shared<Double>(current_number);
  return device;
}

/// A call, by FFTW. Like cuFFT, a c2r destroys its input, and real lines start on complex elements.
class Call final : public EmbeddedPlan {
 public:
  explicit Call(const EmbeddedCall& call) : precision_(call.precision), kind_(call.kind) {
    if (const std::string why = refused(call); !why.empty()) fail(why + " in " + to_string(call));
    problem_.precision = call.precision;
    problem_.kind = call.kind;
    problem_.direction = call.direction;
    problem_.aligned = false;
    problem_.may_destroy_input = call.kind == FftKind::real && call.direction == Direction::backward;
    Index from = call.from.stride, to = call.to.stride;
    for (int i = call.axes - 1; i >= 0; --i) {
      const auto at = static_cast<std::size_t>(i);
      problem_.dimensions.insert(problem_.dimensions.begin(), {call.n[at], from, to});
      from *= call.from.embed[at];
      to *= call.to.embed[at];
    }
    if (call.batch > 1) problem_.loops = {{call.batch, call.from.distance, call.to.distance}};
  }

  std::size_t work_bytes() const override { return 1000; }

  void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work) override {
    const Aside aside;
    const auto complex = static_cast<std::uintptr_t>(2 * real_bytes(precision_));
    for (const std::byte* at : {from, to, work})
      if (reinterpret_cast<std::uintptr_t>(at) % complex != 0) fail("arrays off a complex element");
    if (Memory::of_process().owner(work) < 0) fail("no work area");
    FftProblem problem = problem_;
    problem.in_place = from == to;
    const bool destroys = kind_ == FftKind::real && problem_.direction == Direction::backward && from != to;
    const std::size_t used = work_bytes();
    static_cast<Stream&>(stream).run([=] {
      std::memset(work, 0xff, used);
      fftw_row().plan(problem)->execute(from, to);
      if (destroys) std::memset(from, 0xff, complex);
    });
  }

 private:
  Precision precision_;
  FftKind kind_;
  FftProblem problem_;
};

FftRow double_fft() {
  FftRow row = fftw_row();
  row.name = "double";
  row.unable = unable_to_embed;
  row.memory = MemoryKind::cuda;
  row.plan = nullptr;
  row.plan_on = [](Device&, const FftProblem& problem) -> std::shared_ptr<StreamFft> {
    return std::make_shared<EmbeddedStreamFft>(
        problem, [](const EmbeddedCall& call) { return std::make_shared<Call>(call); });
  };
  return row;
}

}  // namespace

ScopedDeviceDouble::ScopedDeviceDouble(const DoubleManner& m) {
  static const FftRow fft = double_fft();
  static const DeviceRow row{.name = "double",
                             .missing = [] { return manner().missing; },
                             .current = device_of_thread,
                             .notice = [] {},
                             .holds = [](const void* p) { return Memory::of_process().owner(p) >= 0; }};
  manner() = m;
  replace_device_row(&row);
  replace_device_fft(&fft);
}

ScopedDeviceDouble::~ScopedDeviceDouble() {
  replace_device_row(nullptr);
  replace_device_fft(nullptr);
}

void run_on_double_stream(void* native, std::function<void()> job) {
  (*static_cast<std::shared_ptr<Queue>*>(native))->push(std::move(job));
}

void set_double_device(int number) {
  current_number = number;
}

}  // namespace weft::test
