// The pool of threads inside a rank: every part runs once whatever the numbers of parts, threads, pools and
// cores, exceptions come back, and an idle pool costs nothing.
#include <gtest/gtest.h>
#include <sys/resource.h>
#ifdef __linux__
#include <sched.h>
#endif

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_pool.hpp"
#include "support/expect_error.hpp"

#if defined(WEFT_SANITIZES_THREADS) || defined(WEFT_SANITIZES_ADDRESSES)
#define WEFT_TEST_SANITIZED
#endif

namespace weft::test {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Plain memory on purpose: the pool has to order it.
void run_and_check(ThreadPool& pool, int parts, long round) {
  std::vector<long> done(static_cast<std::size_t>(parts), 0);
  pool.run(parts, [&](int part) {
    if ((round + part) % 3 == 0) std::this_thread::yield();  // or the caller would mostly do it all
    done[static_cast<std::size_t>(part)] += round + part;
  });
  for (int part = 0; part < parts; ++part) ASSERT_EQ(done[static_cast<std::size_t>(part)], round + part);
}

}  // namespace

TEST(ThreadPool, RunsEveryPartOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int parts : {0, 1, 2, 3, 7, 8, 9, 100, 5000}) run_and_check(pool, parts, 1);
  }
}

TEST(ThreadPool, OneThreadIsTheCaller) {
  ThreadPool pool(1);
  const auto caller = std::this_thread::get_id();
  std::vector<int> order;
  pool.run(5, [&](int part) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(part);
  });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(ThreadPool, HelpersTakePart) {
  ThreadPool pool(3);
  // Every part waits for the others: they are on three threads.
  std::atomic<int> arrived{0};
  pool.run(3, [&](int) {
    ++arrived;
    while (arrived.load() < 3) std::this_thread::yield();
  });
  EXPECT_EQ(arrived.load(), 3);
}

TEST(ThreadPool, ServesAgainAndAgain) {
  const auto start = Clock::now();
  for (const int threads : {2, 8}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 10000; ++round) run_and_check(pool, 1 + round % 11, round);
  }
  EXPECT_LT(seconds_since(start), 30);
}

TEST(ThreadPool, ServesAfterItsHelpersFellAsleep) {
  ThreadPool pool(4);
  for (int round = 0; round < 40; ++round) {
    std::this_thread::sleep_for(std::chrono::microseconds(round * 50));
    run_and_check(pool, 2 + round % 5, round);
  }
}

TEST(ThreadPool, IdleTakesNoTime) {
  ThreadPool pool(8);
  run_and_check(pool, 8, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.03);
}

TEST(ThreadPool, ThrowsWhatAPartThrewAndServesOn) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 200; ++round) {
      const int bad = round % 7;
      try {
        pool.run(7, [&](int part) {
          if (part == bad) throw std::runtime_error("part " + std::to_string(part));
        });
        ADD_FAILURE() << "nothing thrown";
      } catch (const std::runtime_error& e) {
        EXPECT_EQ(e.what(), "part " + std::to_string(bad));
      }
      run_and_check(pool, 9, round);
    }
    EXPECT_THROW(pool.run(50, [](int) { throw std::runtime_error("all"); }), std::runtime_error);
    run_and_check(pool, 9, 1);
  }
}

TEST(ThreadPool, TwoPoolsUnderEachOfFourThreads) {
  const auto start = Clock::now();
  std::vector<std::thread> callers;
  std::atomic<long> sum{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      ThreadPool outer(3);
      std::vector<std::unique_ptr<ThreadPool>> inner;
      for (int i = 0; i < 4; ++i) inner.push_back(std::make_unique<ThreadPool>(2));
      for (int round = 0; round < 300; ++round)
        outer.run(4, [&](int part) {
          std::vector<int> done(6, 0);
          inner[static_cast<std::size_t>(part)]->run(6, [&](int i) {
            std::this_thread::yield();
            done[static_cast<std::size_t>(i)] = i;
          });
          sum += std::accumulate(done.begin(), done.end(), 0);
        });
    });
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(sum.load(), 4L * 300 * 4 * 15);
  EXPECT_LT(seconds_since(start), 60);
}

TEST(ThreadPool, NeedsAThread) {
  expect_error([] { ThreadPool pool(0); }, "thread pool: 0 threads");
}

TEST(ThreadPool, SaysHowManyThreadsStarted) {
#ifdef WEFT_TEST_SANITIZED
  GTEST_SKIP() << "the limit on memory would stop the sanitizer";
#else
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto try_many = [] {
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = 512u << 20;  // room for the stacks of some dozens
    setrlimit(RLIMIT_AS, &limit);
    try {
      ThreadPool pool(10000);
    } catch (const Error& e) {
      std::fprintf(stderr, "%s\n", e.what());
      std::exit(3);
    }
    std::exit(0);
  };
  EXPECT_EXIT(try_many(), testing::ExitedWithCode(3), "only [0-9]+ of 10000 threads");
#endif
}

TEST(HardwareThreads, AreAtLeastOne) {
  EXPECT_GE(hardware_threads(), 1);
#ifdef __linux__
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(hardware_threads(), CPU_COUNT(&all));
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(hardware_threads(), 1);
  sched_setaffinity(0, sizeof all, &all);
#endif
}

}  // namespace weft::test
