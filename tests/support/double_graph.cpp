#include "support/double_graph.hpp"

#include <algorithm>
#include <random>
#include <thread>

#include "support/double_memory.hpp"
#include "support/double_stream.hpp"

namespace weft::test::device_double {

bool& capturing() {
  static thread_local bool captures = false;
  return captures;
}

std::size_t Recording::lane_of(const Queue* queue) const {
  const auto lane =
      std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& l) { return l.queue.get() == queue; });
  return static_cast<std::size_t>(lane - lanes_.begin());
}

void Recording::join(const std::shared_ptr<Queue>& queue) {
  lanes_.push_back({queue, {}, {}});
  for (Lane& l : lanes_) l.seen.resize(lanes_.size());
}

void Recording::add(const Queue* queue, std::function<void()> job) {
  const std::size_t lane = lane_of(queue);
  lanes_[lane].jobs.push_back(std::move(job));
  lanes_[lane].seen[lane] = lanes_[lane].jobs.size();
}

Recording::Mark Recording::mark(const Queue* queue) {
  marks_.push_back(std::make_unique<std::atomic<bool>>(false));
  std::atomic<bool>* const set = marks_.back().get();
  add(queue, [set] { *set = true; });
  return {static_cast<int>(marks_.size()) - 1, lanes_[lane_of(queue)].seen};
}

void Recording::wait(const Queue* queue, const Mark& mark) {
  Seen& seen = lanes_[lane_of(queue)].seen;
  for (std::size_t i = 0; i < mark.seen.size(); ++i) seen[i] = std::max(seen[i], mark.seen[i]);
  const std::atomic<bool>* const set = marks_[static_cast<std::size_t>(mark.number)].get();
  add(queue, [set] {
    while (!*set) std::this_thread::yield();
  });
}

bool Recording::end() {
  ended_ = true;
  bool joined = true;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    joined = joined && lanes_.front().seen[i] >= lanes_[i].jobs.size();
    lanes_[i].queue->capture(nullptr);
    lanes_[i].queue.reset();
  }
  return joined;
}

void Recording::run() {
  const std::lock_guard lock(running_);
  for (const auto& m : marks_) *m = false;
  ++runs_;
  std::vector<std::thread> branches;
  for (std::size_t i = 1; i < lanes_.size(); ++i)
    branches.emplace_back([this, i] {
      const Aside aside;
      run(lanes_[i], static_cast<unsigned>(i) + runs_);
    });
  run(lanes_.front(), runs_);
  for (std::thread& b : branches) b.join();
}

void Recording::run(const Lane& lane, unsigned seed) const {
  std::minstd_rand random(seed);
  const Unordered unordered;
  for (const std::function<void()>& job : lane.jobs) {
    if (manner().delays && random() % 4 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    job();
  }
}

bool Recording::is_like(const Recording& other) const {
  return std::equal(lanes_.begin(), lanes_.end(), other.lanes_.begin(), other.lanes_.end(),
                    [](const Lane& a, const Lane& b) { return a.jobs.size() == b.jobs.size(); });
}

void Graph::launch(DeviceStream& stream) {
  const Aside aside;
  auto& on = static_cast<Stream&>(stream);
  if (on.queue()->recording()) fail("a graph on a stream that is captured");
  on.run([recording = recording_] { recording->run(); });
}

bool Graph::update(DeviceGraph& captured) {
  const std::shared_ptr<Recording>& other = static_cast<Graph&>(captured).recording_;
  if (!recording_->is_like(*other)) return false;
  recording_ = other;
  return true;
}

}  // namespace weft::test::device_double
