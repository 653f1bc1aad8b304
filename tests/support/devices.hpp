// What tests of device memory run on: the double of the seam, or the GPUs of this machine. The tests are the
// same; a program links one of the two.
#pragma once

#include <cstddef>

namespace weft::test {

/// How they behave, as far as they can be told.
struct DevicesManner {
  bool delays = false;     ///< streams pause at random
  bool processes = false;  ///< their memory is given to other processes
  bool ordered = true;  ///< false: streams may run over each other's data, and ThreadSanitizer does not mind
  std::size_t room = std::size_t{1} << 30;  ///< bytes of each
  int reach = 0;  ///< they reach each other within so many of consecutive numbers; 0: all
};

/// There are devices for the lifetime of this.
class ScopedDevices {
 public:
  explicit ScopedDevices(const DevicesManner& manner = {});
  ~ScopedDevices();
  ScopedDevices(const ScopedDevices&) = delete;
  ScopedDevices& operator=(const ScopedDevices&) = delete;

  /// The most that a test should use.
  static int count();
  /// The size of the sets within which devices reach each other, of those that a test can ask for; 0: all do.
  static int reach_of(int asked);
  /// Whether NCCL is there between processes, too.
  static bool nccl_between_processes();
  /// Whether their memory is memory of the host, which any MPI takes.
  static bool are_on_host();
  /// How many random problems a test tries.
  static int problems();
  /// Streams, events and graphs that there are in this process; 0 where nobody counts them.
  static long objects();
  /// Bytes that they may keep for themselves of what was used, and that the process may keep for them.
  static double kept();
  /// Makes a device that of the calling thread.
  static void choose(int number);
};

}  // namespace weft::test
