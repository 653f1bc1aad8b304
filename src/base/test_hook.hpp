// Points in planning and execution where tests can interfere: delay a rank, let it fail, or overwrite memory
// whose contents an execution must not rely on. Without an installed hook a point costs one load.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>

namespace weft {

struct TestHook {
  /// Called with the name of the point ("plan", "op") and the rank that has reached it. May sleep or throw.
  std::function<void(const char* point, int rank)> at_point;
  /// Called before each execution with the workspace of the rank.
  std::function<void(std::byte* memory, std::size_t bytes)> on_workspace;
  /// Called before each local FFT and copy ("fft", "copy", "pack", ...) with its source, its destination and
  /// the bytes of the points that it writes.
  std::function<void(const char* kind, const std::byte* from, const std::byte* to, std::size_t bytes)>
      on_access;
  /// Asked for while planning: bytes of the blocks in which transforms are done that leave something out or
  /// have an operator; 0: as many as without a hook.
  std::ptrdiff_t block_bytes = 0;
};

namespace detail {
extern std::atomic<const TestHook*> test_hook;
}

/// Gives a global switch of the tests another value for the lifetime of the object.
template <typename T>
class ScopedSwitch {
 public:
  ScopedSwitch(std::atomic<T>& where, T value) : where_(where), before_(where.exchange(value)) {}
  ~ScopedSwitch() { where_.store(before_); }
  ScopedSwitch(const ScopedSwitch&) = delete;
  ScopedSwitch& operator=(const ScopedSwitch&) = delete;

 private:
  std::atomic<T>& where_;
  T before_;
};

/// Installs `hook` for the lifetime of the object.
class ScopedTestHook {
 public:
  explicit ScopedTestHook(TestHook hook) : hook_(std::move(hook)), installed_(detail::test_hook, &hook_) {}

 private:
  TestHook hook_;
  ScopedSwitch<const TestHook*> installed_;
};

inline void test_point(const char* point, int rank) {
  const TestHook* hook = detail::test_hook.load(std::memory_order_acquire);
  if (hook != nullptr && hook->at_point) hook->at_point(point, rank);
}

inline void test_workspace(std::byte* memory, std::size_t bytes) {
  const TestHook* hook = detail::test_hook.load(std::memory_order_acquire);
  if (hook != nullptr && hook->on_workspace && memory != nullptr) hook->on_workspace(memory, bytes);
}

/// Whether executions shall overwrite their workspace themselves, because it is in memory that the hook
/// cannot reach.
inline bool test_spoils_workspace() {
  const TestHook* hook = detail::test_hook.load(std::memory_order_acquire);
  return hook != nullptr && hook->on_workspace;
}

inline std::ptrdiff_t test_block_bytes(std::ptrdiff_t usual) {
  const TestHook* hook = detail::test_hook.load(std::memory_order_acquire);
  return hook != nullptr && hook->block_bytes > 0 ? hook->block_bytes : usual;
}

inline void test_access(const char* kind, const std::byte* from, const std::byte* to, std::size_t bytes) {
  const TestHook* hook = detail::test_hook.load(std::memory_order_acquire);
  if (hook != nullptr && hook->on_access) hook->on_access(kind, from, to, bytes);
}

}  // namespace weft
