// Devices that refuse what is asked of them, memory or anything that takes some, at the moment that a test
// chooses. They stand in front of the ones that the seam has, GPUs or their double, and of their memory
// know what is in use.
#pragma once

#include <atomic>
#include <cstddef>

#include <iosfwd>

namespace weft::test {

/// What is refused of the requests that threads make: for memory of a device, pinned memory, memory of
/// another process, streams and events.
class Refusals {
 public:
  /// Grants so many requests. The next one is refused, and, if `lasting`, all behind it.
  explicit Refusals(int granted, bool lasting = false) : left_(granted), lasting_(lasting) {}
  /// The next request is refused.
  void begin() { left_ = 0; }
  int refused() const { return refused_; }

  bool refuses_next() {
    const int left = left_--;
    if (left > 0 || (left < 0 && !lasting_)) return false;
    ++refused_;
    return true;
  }

 private:
  std::atomic<int> left_, refused_{0};
  bool lasting_;
};

/// Requests of the calling thread are subject to refusals, for the lifetime of this.
class ScopedRefusals {
 public:
  explicit ScopedRefusals(Refusals& refusals);
  ~ScopedRefusals();
  ScopedRefusals(const ScopedRefusals&) = delete;
  ScopedRefusals& operator=(const ScopedRefusals&) = delete;
};

/// What of these devices is in use in this process.
struct DevicesInUse {
  long memories = 0, pinned = 0, mapped = 0;
  std::size_t bytes = 0;  ///< of memory on devices
  bool operator==(const DevicesInUse&) const = default;
};
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
void PrintTo(const DevicesInUse& used, std::ostream* out);

/// The devices of the seam are such for the lifetime of this.
class ScarceDevices {
 public:
  ScarceDevices();
  ~ScarceDevices();
  ScarceDevices(const ScarceDevices&) = delete;
  ScarceDevices& operator=(const ScarceDevices&) = delete;

  static DevicesInUse in_use();
};

}  // namespace weft::test
