// Graphs of the double of the device seam: jobs that were captured, in one lane for each stream, with marks
// that lanes set and wait for. As branches of a graph lanes run beside each other, each at its own pace, or
// one after the other in whatever order their waits for each other allow: what waits for another device then
// keeps back all that has not begun.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device.hpp"

namespace weft::test::device_double {

class Queue;

/// Streams, events and graphs that there are.
std::atomic<long>& live_objects();

class Live {
 public:
  Live() { ++live_objects(); }
  ~Live() { --live_objects(); }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;
};

/// What is captured while it is, and what has been afterwards.
class Recording {
 public:
  /// Captures `origin`, whose lane is the first.
  explicit Recording(const std::shared_ptr<Queue>& origin) { join(origin); }

  /// How many jobs of each lane are over at a point of it.
  using Seen = std::vector<std::size_t>;
  struct Mark {
    int number;
    Seen seen;
  };

  void join(const std::shared_ptr<Queue>& queue);
  void add(const Queue* queue, std::function<void()> work);
  Mark mark(const Queue* queue);
  /// What follows on `queue` waits for the mark.
  void wait(const Queue* queue, const Mark& mark);
  bool starts_at(const Queue* queue) const { return lanes_.front().queue.get() == queue; }
  /// Lets go of all queues. False if the first has not waited for all that was captured on the others.
  bool end();
  bool has_ended() const { return ended_; }

  /// Runs all of it; one run after the other.
  void run();
  /// Whether another one could take its place without being made anew.
  bool is_like(const Recording& other) const;

 private:
  struct Job {
    std::function<void()> work;        ///< or:
    const std::atomic<bool>* awaited;  ///< a mark
    bool can_begin() const { return awaited == nullptr || *awaited; }
  };
  struct Lane {
    std::shared_ptr<Queue> queue;
    std::vector<Job> jobs;
    Seen seen;
  };
  std::size_t lane_of(const Queue* queue) const;
  void add(std::size_t lane, Job job);
  void run_beside_each_other();
  /// `turned`: the last lane first.
  void run_in_turn(bool turned);

  bool ended_ = false;
  std::vector<Lane> lanes_;
  std::vector<std::unique_ptr<std::atomic<bool>>> marks_;
  std::mutex running_;
  unsigned runs_ = 0;
};

class Graph final : public DeviceGraph {
 public:
  explicit Graph(std::shared_ptr<Recording> recording) : recording_(std::move(recording)) {}
  void launch(DeviceStream& stream) override;
  bool update(DeviceGraph& captured) override;

 private:
  std::shared_ptr<Recording> recording_;
  Live live_;
};

/// Whether the calling thread captures.
bool& capturing();

}  // namespace weft::test::device_double
