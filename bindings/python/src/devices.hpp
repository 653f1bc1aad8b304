// GPUs, as far as Python has to say which one it means, and what lies in their memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/error.hpp"

struct CUstream_st;

namespace weft::python {

/// The number of GPUs that CUDA finds; 0 without CUDA.
int device_count();
/// The device of the calling thread: 0 until the program has chosen another one.
int current_device();
/// The device whose memory an address is in; -1: none.
int device_of(std::uintptr_t address);
/// Work that is enqueued on stream `later` from now on comes after what has been enqueued on `earlier`.
void order_streams(int device, std::uintptr_t earlier, std::uintptr_t later);

/// Makes a device current in the calling thread for the lifetime of the object; -1 changes nothing. The
/// context that was current before is so again afterwards, none if there was none, so that no context is made
/// on a device that nobody asked for.
class OnDevice {
 public:
  /// Throws `weft::Error` if there is no such device, also in a build without CUDA and on machines without a
  /// device.
  explicit OnDevice(int device);
  ~OnDevice();  // NOLINT(performance-trivially-destructible): only without CUDA
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  void* before_ = nullptr;
  bool changed_ = false;
};

/// A stream that waits for no other one, not even the default one. Made on its device; destroyed anywhere.
class OwnStream {
 public:
  explicit OwnStream(int device);
  ~OwnStream();  // NOLINT(performance-trivially-destructible): only without CUDA
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;

  CUstream_st* native() const { return stream_; }
  /// Returns when all that was enqueued is done.
  void wait() const;

 private:
  int device_;
  CUstream_st* stream_ = nullptr;
};

/// Memory of a GPU, none at first.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  ~DeviceBuffer();  // NOLINT(performance-trivially-destructible): only without CUDA
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;

  /// At least so many bytes on the device, which is current; values are lost if that means other memory.
  void reserve(int device, std::size_t bytes);
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  int device_ = -1;
};

using Bytes = std::int64_t;

/// An axis of a copy between host and GPU: how many steps, and bytes of a step in either memory.
struct CopiedAxis {
  Bytes length, host_step, device_step;
};
enum class Towards { host, device };

/// Enqueues a copy. The first axis is a row of bytes, with steps of 1.
void copy_axes(const std::vector<CopiedAxis>& axes, char* host, char* device, Towards towards,
               const OwnStream& stream);

}  // namespace weft::python
