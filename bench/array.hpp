// An array of the benchmark, in memory of the host or of a device. It is filled and checked on the host, part
// by part: on the host a part is the array's own memory, on a device it is a copy in pinned memory.
#pragma once

#include <limits>
#include <memory>
#include <string>

#include "device/device.hpp"
#include "weft/buffer.hpp"

namespace weft::bench {

/// Memory of the host; throws as `Array` does.
Buffer<std::byte> host_memory(std::size_t bytes, const std::string& what);

class Array {
 public:
  Array() = default;
  /// Allocates in memory of `device`, or of the host if that is null. Throws `weft::Error` that names `what`
  /// and the bytes if memory does not suffice.
  Array(std::size_t bytes, std::shared_ptr<Device> device, const std::string& what);
  /// Of so many bytes of a device's memory that is there already.
  Array(std::shared_ptr<std::byte> memory, std::size_t bytes, std::shared_ptr<Device> device,
        const std::string& what);

  std::size_t size() const { return size_; }
  /// The pointer for executions.
  void* data() { return device_ ? static_cast<void*>(memory_.get()) : host_.data(); }

  /// The most bytes of a part.
  std::size_t longest() const { return device_ ? pinned_bytes : std::numeric_limits<std::size_t>::max(); }
  /// The part of `bytes` bytes from offset `at`, valid until the next call. Its contents are defined only if
  /// `is_read`.
  std::byte* stretch(std::size_t at, std::size_t bytes, bool is_read);
  /// Stores the last part into the array.
  void store();

 private:
  static constexpr std::size_t pinned_bytes = std::size_t{64} << 20;

  void copy(bool to_device);

  std::size_t size_ = 0;
  Buffer<std::byte> host_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<std::byte> memory_, pinned_;
  std::size_t at_ = 0, bytes_ = 0;  ///< of the last part
};

}  // namespace weft::bench
