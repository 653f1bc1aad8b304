// The threads inside a rank: a fixed team that runs the parts of one job together with its caller. Parts are
// claimed from one atomic counter, not assigned, so that on a crowded machine whoever has a core does the
// work and nobody waits for a helper that was not woken; what is given up is that a part always meets the
// same core.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace weft {

/// The threads that this process may run at the same time: the cores it is bound to, at least 1.
int hardware_threads();

/// Helpers wait for work spinning briefly, then asleep: an idle pool takes no time from anybody.
// The counters that threads fight for stand on cache lines of their own.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
class ThreadPool {
 public:
  /// A pool of the caller and `threads - 1` helpers. Throws `weft::Error` if they cannot be started, leaving
  /// none behind.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(helpers_.size()) + 1; }

  /// Calls `body(part)` for parts 0 to parts-1, each once, in any order and on any thread of the pool; what
  /// they wrote is visible to the caller afterwards. Allocates nothing. If a part throws, those not begun yet
  /// may be left out, and the first exception is thrown once no part is running any more. One caller at a
  /// time, and not from inside a body of the same pool.
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

  /// The number of the job above, its unclaimed parts in the lower half. Who takes a part from it may read
  /// `job_` until the part is counted off `unfinished_`; a helper that comes too late finds nothing to take.
  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  alignas(64) std::atomic<int> unfinished_{0};
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> failed_{false};
  Job job_;
  std::exception_ptr failure_;  ///< written by the part that set `failed_` first
  std::mutex mutex_;            ///< between going to sleep and being woken
  std::condition_variable wake_;
  std::vector<std::thread> helpers_;
};

}  // namespace weft
