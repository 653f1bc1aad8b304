#include "support/double_graph.hpp"

#include <algorithm>
#include <random>
#include <thread>

#include "support/double_memory.hpp"
#include "support/double_stream.hpp"
#include "support/wait_until.hpp"

namespace weft::test::device_double {

bool& capturing() {
  static thread_local bool captures = false;
  return captures;
}

std::atomic<long>& live_objects() {
  static std::atomic<long> number{0};
  return number;
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

void Recording::add(const Queue* queue, std::function<void()> work) {
  add(lane_of(queue), {std::move(work), nullptr});
}

void Recording::add(std::size_t lane, Job job) {
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
  const std::size_t lane = lane_of(queue);
  Seen& seen = lanes_[lane].seen;
  for (std::size_t i = 0; i < mark.seen.size(); ++i) seen[i] = std::max(seen[i], mark.seen[i]);
  add(lane, {nullptr, marks_[static_cast<std::size_t>(mark.number)].get()});
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
  const Unordered unordered;
  if (++runs_ % 3 == 0) {
    run_beside_each_other();
  } else {
    run_in_turn(runs_ % 3 == 1);
  }
}

void Recording::run_beside_each_other() {
  const auto run = [](const Lane& lane, unsigned seed) {
    std::minstd_rand random(seed);
    for (const Job& job : lane.jobs) {
      if (manner().delays && random() % 4 == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      wait_until([&] { return job.can_begin(); });
      if (job.work) job.work();
    }
  };
  std::vector<std::thread> branches;
  for (std::size_t i = 1; i < lanes_.size(); ++i)
    branches.emplace_back([this, i, run] {
      const Aside aside;
      const Unordered unordered;
      run(lanes_[i], static_cast<unsigned>(i) + runs_);
    });
  run(lanes_.front(), runs_);
  for (std::thread& b : branches) b.join();
}

void Recording::run_in_turn(bool turned) {
  std::vector<std::size_t> at(lanes_.size());
  const auto is_over = [&] {
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      if (at[i] < lanes_[i].jobs.size()) return false;
    return true;
  };
  while (!is_over())
    for (std::size_t n = 0; n < lanes_.size(); ++n) {
      const std::size_t i = turned ? lanes_.size() - 1 - n : n;
      const std::vector<Job>& jobs = lanes_[i].jobs;
      for (; at[i] < jobs.size() && jobs[at[i]].can_begin(); ++at[i])
        if (jobs[at[i]].work) jobs[at[i]].work();
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
