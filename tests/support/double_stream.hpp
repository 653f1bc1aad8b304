// Streams of the double of the device seam: queues that threads work off, each at its own pace.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "device/device.hpp"
#include "support/device_double.hpp"
#include "support/double_graph.hpp"

namespace weft::test::device_double {

using Clock = std::chrono::steady_clock;

/// How the double behaves now. Threads of queues may still read what has been replaced.
const DoubleManner& manner();
/// Replaces it, and returns what it was.
const DoubleManner* set_manner(const DoubleManner* manner);
/// A copy of a manner that lasts until the program ends.
const DoubleManner* keep(const DoubleManner& manner);

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

/// What the calling thread reads and writes is in no order with others, for the lifetime of this, if the
/// double's manner says so.
class Unordered {
 public:
  Unordered();
  ~Unordered();
  Unordered(const Unordered&) = delete;
  Unordered& operator=(const Unordered&) = delete;

 private:
  bool ignored_;
};

/// Numbers of the devices that the calling thread has entered.
std::vector<int>& entered();

class Event final : public DeviceEvent {
 public:
  struct State {
    std::atomic<std::uint64_t> recorded{0}, passed{0};
    std::atomic<Clock::duration::rep> at{0};
    // If it was recorded on a stream that was captured:
    std::shared_ptr<Recording> recording;
    Recording::Mark mark{};
  };
  std::shared_ptr<State> state = std::make_shared<State>();
  Live live;
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
    if (recording_) {
      recording_->add(this, std::move(job));
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_all();
  }

  /// What captures it now, if anything does.
  const std::shared_ptr<Recording>& recording() const { return recording_; }
  void capture(std::shared_ptr<Recording> recording) { recording_ = std::move(recording); }

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
      const Unordered unordered;
      job();
    }
  }

  std::shared_ptr<Recording> recording_;
  std::minstd_rand random_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool ending_ = false;
  std::thread worker_;
};

/// What a stream asks of its device.
class Owner {
 public:
  virtual ~Owner() = default;
  virtual int number() const = 0;
  virtual bool is_connected(int other) = 0;
};

class Stream final : public DeviceStream {
 public:
  Stream(Owner& device, std::shared_ptr<Queue> queue, bool borrowed)
      : device_(device), queue_(std::move(queue)), borrowed_(borrowed) {}

  void* native() const override { return const_cast<std::shared_ptr<Queue>*>(&queue_); }
  const std::shared_ptr<Queue>& queue() const { return queue_; }

  void run(std::function<void()> job);
  void record(DeviceEvent& event) override;
  void wait(const DeviceEvent& event) override;
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) override;
  void copy_rows(std::byte* to, const std::byte* from, const DeviceRows& rows) override;
  using DeviceStream::permute;
  void permute(std::span<const DeviceCopyJob> jobs, const DeviceSignals& signals) override;
  void r2r(std::byte* to, const std::byte* from, const R2rStep& step) override;
  void lines(const LineArrays& arrays, const LineStep& step, const DeviceSignals& signals) override;
  void planes(const LineArrays& arrays, const PlaneLines& step, std::byte* ring,
              std::byte* counters) override;
  void elements(std::byte* at, std::byte* other, const ElementStep& step) override;
  void fill(std::byte* at, unsigned char value, std::size_t bytes) override;
  void flags(std::span<const DeviceFlag> flags) override;
  void begin_capture() override;
  std::unique_ptr<DeviceGraph> end_capture() override;

 private:
  void join(const std::shared_ptr<Recording>& recording);
  void store(const DeviceSignals& signals);
  void permute_one(std::byte* to, const std::byte* from, const DeviceCopy& copy);
  void code(std::byte* to, const std::byte* from, const DeviceCoding& coding);
  void check_entered() const;
  void check_memory(const std::byte* to, const std::byte* from) const;
  void check_memory(const LineArrays& arrays, const DivertedModes& diverted, Index modes) const;

  Owner& device_;
  std::shared_ptr<Queue> queue_;
  bool borrowed_;
  Live live_;
};

}  // namespace weft::test::device_double
