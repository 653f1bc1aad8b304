// Arrays in memory of the calling thread's device, and their copies on the host, through the device seam: the
// same for a GPU and for its double.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "device/device.hpp"
#include "weft/block.hpp"

namespace weft::test {

class DeviceMirror {
 public:
  DeviceMirror();
  ~DeviceMirror();

  /// What executions may be enqueued on.
  DeviceStream& stream() { return *stream_; }
  /// Device memory with what lies at `host`, once it is there: executions may use any stream.
  std::byte* upload(const void* host, std::size_t bytes);
  /// The same, each byte 0xff.
  std::byte* fresh(std::size_t bytes);
  /// What is at `device` once the stream has come here.
  void download(void* host, const std::byte* device, std::size_t bytes);

 private:
  void finish();

  std::shared_ptr<Device> device_;
  std::unique_ptr<DeviceStream> stream_;
  std::unique_ptr<DeviceEvent> event_;
  std::vector<std::shared_ptr<std::byte>> kept_;
};

/// Lets an operator for the host work on a block in device memory: on a copy, once the stream has come here.
void on_host(const Block& block, const std::function<void(const Block&)>& op);

}  // namespace weft::test
