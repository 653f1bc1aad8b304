// What tests of device memory run on: the double of the seam, or the GPUs of this machine. The tests are the
// same; a program links one of the two.
#pragma once

namespace weft::test {

/// There are devices for the lifetime of this. `delays`: their streams pause at random, if they can.
/// `processes`: their memory is given to other processes. Unless `ordered`, streams may run over each other's
/// data, and ThreadSanitizer does not mind.
class ScopedDevices {
 public:
  explicit ScopedDevices(bool delays = false, bool processes = false, bool ordered = true);
  ~ScopedDevices();
  ScopedDevices(const ScopedDevices&) = delete;
  ScopedDevices& operator=(const ScopedDevices&) = delete;

  /// The most that a test should use.
  static int count();
  /// Whether NCCL is there between processes, too.
  static bool nccl_between_processes();
  /// How many random problems a test tries.
  static int problems();
  /// Makes a device that of the calling thread.
  static void choose(int number);
};

}  // namespace weft::test
