// An array of the benchmark: where executions find it, and its image on the host, where it is filled and
// looked at. In memory of the host the two are the same.
#pragma once

#include <memory>

#include "device/device.hpp"
#include "weft/buffer.hpp"

namespace weft::bench {

class Array {
 public:
  Array() = default;
  /// In memory of `device`, or, if that is null, of the host.
  Array(std::size_t bytes, std::shared_ptr<Device> device);

  std::size_t size() const { return size_; }
  /// What executions get.
  void* data() { return device_ ? static_cast<void*>(memory_.get()) : image(); }
  /// On a device, it is made when it is first asked for.
  void* image();
  /// Copy all of it from the image, and back; return when that is done.
  void upload() { copy(true); }
  void download() { copy(false); }

 private:
  void copy(bool to_device);

  std::size_t size_ = 0;
  Buffer<char> image_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<std::byte> memory_;
};

}  // namespace weft::bench
