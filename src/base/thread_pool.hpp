// The threads inside a rank: a fixed set of helpers that runs the parts of one job together with the caller.
// Threads claim parts from one atomic counter, so that on a crowded machine the threads that have a core do
// the work, and no thread waits for a helper that is not scheduled. The price: a part does not always run on
// the same core.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace weft {

/// The number of threads that can run at the same time: the cores that this process is bound to, at least 1.
int hardware_threads();

/// Idle helpers spin briefly, then sleep, so that an idle pool takes no processor time.
// The counters that threads contend for have cache lines of their own.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
class ThreadPool {
 public:
  /// A pool of the caller and `threads - 1` helpers. Throws `weft::Error`, and ends the helpers started so
  /// far, if one cannot be started.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(helpers_.size()) + 1; }

  /// Calls `body(part)` once for each of the parts 0 to parts-1, in any order and on any thread of the pool.
  /// What the parts wrote is visible to the caller afterwards. Allocates nothing. If a part throws, parts not
  /// begun yet may be skipped, and the first exception is thrown when no part is running any more. Only one
  /// caller at a time, and not from inside a body of the same pool.
  template <class Body>
  void run(int parts, const Body& body) {
    if (helpers_.empty() || parts <= 1) {
      for (int part = 0; part < parts; ++part) body(part);
      return;
    }
    run_job({[](const void* b, int part) { (*static_cast<const Body*>(b))(part); }, &body, parts});
  }

 private:
  struct Job {
    void (*call)(const void* body, int part) = nullptr;
    const void* body = nullptr;
    int parts = 0;
  };

  void run_job(const Job& job);
  void publish();
  void help();
  bool await_job(std::uint32_t& seen);
  void work();
  void run_part(int part) noexcept;
  void stop() noexcept;

  /// The number of the job in the upper half, its unclaimed parts in the lower half. A thread that has
  /// claimed a part may read `job_` until it has counted the part off `unfinished_`. A helper that comes too
  /// late finds no part to claim.
  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  alignas(64) std::atomic<int> unfinished_{0};
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> failed_{false};
  Job job_;
  std::exception_ptr failure_;  ///< written by the part that set `failed_` first
  std::mutex mutex_;            ///< of `wake_`
  std::condition_variable wake_;
  std::vector<std::thread> helpers_;
};

}  // namespace weft
