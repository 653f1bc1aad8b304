// Where a thread runs, and where the memory that it uses first comes from. All of this is advice: where the
// system does not allow it, all stays as it was, as right and perhaps slower.
#pragma once

#include <thread>

#include "base/numa/map.hpp"

namespace weft::numa {

/// Those that the calling thread may run on: what the launcher has given it, or less.
Processors of_thread();

/// Lets a thread run on these alone; if there are none, it stays where it is.
void bind(std::thread& thread, const Processors& processors);

/// While it lives, pages that the calling thread is the first to touch, or that the system pins for it, come
/// from a NUMA node as long as that has some. Nothing happens for `unknown`, nor where the user has said
/// already how memory is placed (`numactl`).
class MemoryFrom {
 public:
  explicit MemoryFrom(int node);
  ~MemoryFrom();
  MemoryFrom(const MemoryFrom&) = delete;
  MemoryFrom& operator=(const MemoryFrom&) = delete;

  /// Whether the system does so.
  bool is_heeded() const { return set_; }

 private:
  bool set_ = false;
};

}  // namespace weft::numa
