// An array of the benchmark: where executions find it, and stretches of it on the host, where it is filled
// and looked at. In memory of the host they are the array itself; of a device's they are copied, one at a
// time.
#pragma once

#include <limits>
#include <memory>
#include <string>

#include "device/device.hpp"
#include "weft/buffer.hpp"

namespace weft::bench {

/// Bytes on the host; throws as `Array` does.
Buffer<std::byte> host_memory(std::size_t bytes, const std::string& what);

class Array {
 public:
  Array() = default;
  /// In memory of `device`, or, if that is null, of the host. Throws `weft::Error` that names `what` and its
  /// bytes if there is no room.
  Array(std::size_t bytes, std::shared_ptr<Device> device, const std::string& what);

  std::size_t size() const { return size_; }
  /// What executions get.
  void* data() { return device_ ? static_cast<void*>(memory_.get()) : host_.data(); }

  /// No stretch may be longer.
  std::size_t longest() const { return device_ ? pinned_bytes : std::numeric_limits<std::size_t>::max(); }
  /// So many bytes from `at` on, until the next call; what they hold only if that `is_read`.
  std::byte* stretch(std::size_t at, std::size_t bytes, bool is_read);
  /// Makes what was written to the last stretch part of the array.
  void store();

 private:
  static constexpr std::size_t pinned_bytes = std::size_t{64} << 20;

  void copy(bool to_device);

  std::size_t size_ = 0;
  Buffer<std::byte> host_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<std::byte> memory_, pinned_;
  std::size_t at_ = 0, bytes_ = 0;  ///< of the last stretch
};

}  // namespace weft::bench
