#include "base/thread_pool.hpp"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "weft/error.hpp"

#ifdef __linux__
#include <sched.h>
#endif
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace weft {

namespace {

/// How often a helper looks for new work before it sleeps: some microseconds at full speed, then some tens of
/// microseconds in which it yields the core. The next step of a transform usually comes sooner.
constexpr int spins_at_full_speed = 128;
constexpr int spins_yielding = 64;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void spin(int round) {
  if (round < spins_at_full_speed) {
    relax();
  } else {
    std::this_thread::yield();
  }
}

std::uint32_t number_of(std::uint64_t ticket) {
  return static_cast<std::uint32_t>(ticket >> 32);
}

int unclaimed(std::uint64_t ticket) {
  return static_cast<int>(ticket & 0xFFFFFFFFu);
}

}  // namespace

int hardware_threads() {
#ifdef __linux__
  // A machine may have more processors than a `cpu_set_t` of the standard size can hold.
  for (int processors = CPU_SETSIZE; processors <= (1 << 20); processors *= 4) {
    cpu_set_t* set = CPU_ALLOC(processors);
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(processors);
    const int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int threads) {
  if (threads < 1) throw Error("thread pool", std::to_string(threads) + " threads", "at least 1");
  helpers_.reserve(static_cast<std::size_t>(threads - 1));
  try {
    while (this->threads() < threads) helpers_.emplace_back([this] { help(); });
  } catch (const std::system_error& e) {
    const int started = this->threads();
    stop();
    throw Error("thread pool",
                "only " + std::to_string(started) + " of " + std::to_string(threads) +
                    " threads, the caller's included, could be started: " + e.what(),
                "fewer threads, or higher limits on threads and memory");
  }
}

ThreadPool::~ThreadPool() {
  stop();
}

void ThreadPool::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_.store(true);
  }
  wake_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
  helpers_.clear();
}

void ThreadPool::run_job(const Job& job) {
  job_ = job;
  unfinished_.store(job.parts, std::memory_order_relaxed);
  publish();
  work();
  for (int round = 0; unfinished_.load(std::memory_order_acquire) > 0; ++round) spin(round);
  if (failed_.load(std::memory_order_relaxed)) {
    failed_.store(false, std::memory_order_relaxed);
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
}

void ThreadPool::publish() {
  const std::uint64_t number = number_of(ticket_.load(std::memory_order_relaxed)) + 1u;
  // This store and the load of `sleepers_` pair with the opposite order in `await_job`: a helper that is
  // about to sleep either sees the job, or is counted here.
  ticket_.store(number << 32 | static_cast<std::uint32_t>(job_.parts), std::memory_order_seq_cst);
  const int sleepers = sleepers_.load(std::memory_order_seq_cst);
  if (sleepers == 0) return;
  {
    const std::lock_guard lock(mutex_);  // a helper that was about to sleep is now waiting for `wake_`
  }
  const int wanted = job_.parts - 1;
  if (wanted >= sleepers) {
    wake_.notify_all();
  } else {
    for (int i = 0; i < wanted; ++i) wake_.notify_one();
  }
}

void ThreadPool::help() {
  std::uint32_t seen = 0;
  while (await_job(seen)) work();
}

/// Waits for a job with another number than `seen`; false when the pool ends.
bool ThreadPool::await_job(std::uint32_t& seen) {
  const auto called = [&] {
    const std::uint32_t number = number_of(ticket_.load(std::memory_order_seq_cst));
    const bool fresh = number != seen;
    seen = number;
    return fresh || stopping_.load(std::memory_order_relaxed);
  };
  for (int round = 0; round < spins_at_full_speed + spins_yielding; ++round) {
    if (called()) return !stopping_.load(std::memory_order_relaxed);
    spin(round);
  }
  std::unique_lock lock(mutex_);
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  wake_.wait(lock, called);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
  return !stopping_.load(std::memory_order_relaxed);
}

void ThreadPool::work() {
  std::uint64_t ticket = ticket_.load(std::memory_order_relaxed);
  while (unclaimed(ticket) > 0) {
    if (!ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acquire,
                                       std::memory_order_relaxed))
      continue;
    run_part(job_.parts - unclaimed(ticket));
    unfinished_.fetch_sub(1, std::memory_order_acq_rel);
    ticket = ticket_.load(std::memory_order_relaxed);
  }
}

void ThreadPool::run_part(int part) noexcept {
  if (failed_.load(std::memory_order_relaxed)) return;
  try {
    job_.call(job_.body, part);
  } catch (...) {
    if (!failed_.exchange(true, std::memory_order_relaxed)) failure_ = std::current_exception();
  }
}

}  // namespace weft
