// A double of the device seam for tests without a GPU: memory of the host that belongs to a device, streams
// as queues that threads work off, each at its own pace, kernels as functions of the host, FFTW in the place
// of cuFFT. What a GPU would not forgive is an error: memory of the host or of a device that is not
// connected, a device that has not been entered, waiting for flags in another device's memory, allocating and
// asking for events during a capture, capturing a stream that was not made here or what is not joined.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace weft::test {

struct DoubleManner {
  bool delays = false;           ///< streams pause at random
  int reach = 0;                 ///< devices reach each other within so many of consecutive numbers; 0: all
  std::string missing;           ///< why there is no device
  std::string model = "double";  ///< of all devices
  std::size_t room = 0;          ///< bytes that a device has; 0: no limit
  bool processes = false;        ///< memory can be given to other processes
  bool unordered = false;        ///< streams may run over each other's data: ThreadSanitizer does not mind
  void (*pins)() = nullptr;      ///< called before pinned memory is allocated
  void (*range)(const char*) = nullptr;  ///< called when a range begins, with null when it ends
  void (*aside)(bool) = nullptr;  ///< called before and after the double does something that a GPU would do
};

/// The double serves arrays in device memory for the lifetime of this.
class ScopedDeviceDouble {
 public:
  explicit ScopedDeviceDouble(const DoubleManner& manner = {});
  ~ScopedDeviceDouble();
  ScopedDeviceDouble(const ScopedDeviceDouble&) = delete;
  ScopedDeviceDouble& operator=(const ScopedDeviceDouble&) = delete;

 private:
  const DoubleManner* before_;
};

/// What comes behind all that has been enqueued on a stream, given by its native handle.
void run_on_double_stream(void* native, std::function<void()> job);

/// Streams, events and graphs that there are.
long live_double_objects();

/// Makes a device that of the calling thread, as cudaSetDevice does.
void set_double_device(int number);

}  // namespace weft::test
