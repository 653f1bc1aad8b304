// Memory of the double of the device seam: who has which, and how another process finds it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace weft::test::device_double {

/// Throws what a GPU would not forgive.
[[noreturn]] void fail(const std::string& what);

/// Who has which memory.
class Memory {
 public:
  static constexpr int pinned = -1, nobody = -2;

  void add(const std::byte* at, std::size_t bytes, int owner) {
    const std::lock_guard lock(mutex_);
    all_[at] = {bytes, owner};
    if (owner >= 0) used_[owner] += bytes;
  }
  void remove(const std::byte* at) {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(at);
    if (found->second.owner >= 0) used_[found->second.owner] -= found->second.bytes;
    all_.erase(found);
  }
  std::size_t used(int device) {
    const std::lock_guard lock(mutex_);
    return used_[device];
  }
  int owner(const void* pointer) {
    const std::lock_guard lock(mutex_);
    const auto* at = static_cast<const std::byte*>(pointer);
    auto next = all_.upper_bound(at);
    if (next == all_.begin()) return nobody;
    const auto& [start, block] = *--next;
    return at < start + block.bytes ? block.owner : nobody;
  }
  static Memory& of_process() {
    static Memory memory;
    return memory;
  }

 private:
  struct Block {
    std::size_t bytes;
    int owner;
  };
  std::mutex mutex_;
  std::map<const std::byte*, Block> all_;
  std::map<int, std::size_t> used_;
};

/// Memory as another process finds it.
struct Given {
  pid_t process;
  int file, device;
  std::size_t bytes;
};

/// Maps it into this process.
std::byte* map(const Given& given);

/// What this process may give to others.
class Giving {
 public:
  void add(const std::byte* at, const Given& given) {
    const std::lock_guard lock(mutex_);
    all_[at] = given;
  }
  void remove(const std::byte* at) {
    const std::lock_guard lock(mutex_);
    all_.erase(at);
  }
  Given at(const std::byte* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(memory);
    if (found == all_.end()) fail("giving away what is not the start of memory for other processes");
    return found->second;
  }
  /// Never destroyed: memory may be freed after the end of main.
  static Giving& of_process() {
    static auto* giving = new Giving;
    return *giving;
  }

 private:
  std::mutex mutex_;
  std::map<const std::byte*, Given> all_;
};

}  // namespace weft::test::device_double
