// The device seam: all that Weft asks of a GPU beside local FFTs. Devices, memory, streams, events, copies,
// graphs, what makes DCTs and DSTs of FFTs, and flags that streams raise and wait for by themselves. CUDA is
// one implementation (device/cuda), a double for tests that runs streams as queues on the host is another;
// nothing above knows which one it talks to.
//
// Except for those of `Device` that say so, calls only enqueue: they return at once and allocate nothing.
// Everything throws `weft::Error`. A thread enters a device (`DeviceScope`) before it uses it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/device_copy.hpp"
#include "kernels/r2r/step.hpp"

namespace weft {

/// So many rows of bytes, at distances of their own on both sides.
struct DeviceRows {
  std::size_t rows = 1, bytes = 0;
  std::size_t from_pitch = 0, to_pitch = 0;
};

/// A number of 32 bits in memory of devices that a stream stores, or, in its own device's memory, waits for
/// until it has one of `bits`.
struct DeviceFlag {
  std::byte* at;
  std::uint32_t bits;
  bool waits;
};

/// Flags to be stored at the end of copies.
struct DeviceSignals {
  std::span<const DeviceFlag> flags;
  std::byte* count = nullptr;  ///< 32 bits of the device's memory, zero before and afterwards
};

/// A point in a stream.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
};

class DeviceStream;

/// Work that was captured from streams, to be launched as a whole as often as wanted: each launch comes after
/// those before it.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  /// Enqueues all of it. The first launch may allocate.
  virtual void launch(DeviceStream& stream) = 0;
  /// From the next launch on it is what `captured`, which was never launched, holds; false: that cannot be,
  /// and nothing has changed. Takes less time than the first launch of another graph.
  virtual bool update(DeviceGraph& captured) = 0;
};

/// Work that is done in the order in which it was enqueued. Addresses are of this device's memory, of that of
/// a device it is connected with, or of pinned memory.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;
  /// The device's own handle of it.
  virtual void* native() const = 0;

  virtual void record(DeviceEvent& event) = 0;
  /// What follows waits for the point that the event was recorded at last.
  virtual void wait(const DeviceEvent& event) = 0;

  /// Copies that leave the device's processors to others, where it can.
  virtual void copy(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
  virtual void copy_rows(std::byte* to, const std::byte* from, const DeviceRows& rows) = 0;
  /// Copies by kernels, in any order and at the same time: none writes what another one reads or writes. Then
  /// flags are stored, as by `flags`.
  virtual void permute(std::span<const DeviceCopyJob> jobs, const DeviceSignals& signals) = 0;
  void permute(std::byte* to, const std::byte* from, const DeviceCopy& copy) {
    const DeviceCopyJob job{to, from, &copy};
    permute({&job, 1}, {});
  }
  /// What a DCT or DST does before or behind its FFT.
  virtual void r2r(std::byte* to, const std::byte* from, const R2rStep& step) = 0;
  virtual void fill(std::byte* at, unsigned char value, std::size_t bytes) = 0;

  /// One after the other: stored is a flag once everything before it is done and can be seen by all who see
  /// the flag; what follows a flag that is waited for waits. No kernel spins.
  virtual void flags(std::span<const DeviceFlag> flags) = 0;

  /// From here on work is not done but noted, here and on streams that wait for an event of it; before the
  /// end this stream has to wait for all of theirs. Only on streams of `make_stream`. Meanwhile the thread
  /// neither allocates memory of the device nor asks for events.
  virtual void begin_capture() = 0;
  virtual std::unique_ptr<DeviceGraph> end_capture() = 0;
};

/// Captures what is enqueued on a stream, until its end or that of its lifetime.
class DeviceCapture {
 public:
  explicit DeviceCapture(DeviceStream& stream) : stream_(&stream) { stream.begin_capture(); }
  ~DeviceCapture();
  DeviceCapture(const DeviceCapture&) = delete;
  DeviceCapture& operator=(const DeviceCapture&) = delete;
  std::unique_ptr<DeviceGraph> end();

 private:
  DeviceStream* stream_;  ///< null: it has ended
};

/// The same for every process that uses the device.
using DeviceId = std::array<unsigned char, 16>;
/// By which another process of the machine finds memory.
using DeviceMemoryHandle = std::array<unsigned char, 64>;

class Device {
 public:
  virtual ~Device() = default;
  virtual const std::string& name() const = 0;
  /// What tells devices apart that are not equally fast, and no others: "NVIDIA H200, 132 multiprocessors".
  virtual const std::string& model() const = 0;
  virtual DeviceId id() const = 0;

  /// Makes the device that of the calling thread, and gives back what was so before.
  virtual void enter() = 0;
  virtual void leave() noexcept = 0;

  /// Whether streams of this device can read and write the memory of that one.
  virtual bool reaches(const DeviceId& other) const = 0;
  /// Lets them; once is enough.
  virtual void connect(const DeviceId& other) = 0;

  /// On multiples of 256 bytes, uninitialised; null for none. `operation` is named in the error if there is
  /// no room. Waits for the device, as giving it back does.
  virtual std::shared_ptr<std::byte> allocate(std::size_t bytes, const char* operation) = 0;
  /// What `allocate` could still give, as far as is known, and what there is of it altogether.
  virtual double free_bytes() const = 0;
  virtual double total_bytes() const = 0;
  /// Memory of the host that the device copies from and to by itself.
  virtual std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes, const char* operation) = 0;
  /// Memory of this device as another process finds it, and that of another process: of what `allocate` gave.
  virtual DeviceMemoryHandle give(const std::byte* memory) = 0;
  virtual std::shared_ptr<std::byte> take(const DeviceMemoryHandle& handle) = 0;
  /// Whether a pointer is to memory that streams of this device can use as their own.
  virtual bool holds(const void* pointer) const = 0;

  /// A stream of its own; `first`: where kernels of several streams could start, its own do. And one of
  /// somebody else's, by its native handle; null is the default stream.
  virtual std::unique_ptr<DeviceStream> make_stream(bool first = false) = 0;
  virtual std::unique_ptr<DeviceStream> borrow_stream(void* native) = 0;
  /// `timed`: for `seconds_between`.
  virtual std::unique_ptr<DeviceEvent> make_event(bool timed) = 0;
  /// Whether the point has been passed; `wait_for` returns when it has.
  virtual bool passed(const DeviceEvent& event) const = 0;
  virtual void wait_for(const DeviceEvent& event) const = 0;
  /// Of two timed events that have been passed.
  virtual double seconds_between(const DeviceEvent& begin, const DeviceEvent& end) const = 0;
};

/// The device is the calling thread's for the lifetime of this.
class DeviceScope {
 public:
  explicit DeviceScope(Device& device) : device_(device) { device_.enter(); }
  ~DeviceScope() { device_.leave(); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  Device& device_;
};

/// What serves arrays in the memory of devices.
struct DeviceRow {
  const char* name;
  /// Why there is no device that can be used in this process, or nothing.
  std::string (*missing)();
  /// The device of the calling thread; one object per device. Only if none is missing.
  std::shared_ptr<Device> (*current)();
  /// Looks whether this process uses devices by now, without starting anything; for `holds`.
  void (*notice)();
  /// Whether a pointer is to memory that only devices reach. Allocates nothing.
  bool (*holds)(const void* pointer);
  /// A stretch of the calling thread's time, inside those that it has begun; for profilers, and without one
  /// next to nothing.
  void (*begin_range)(const char* name);
  void (*end_range)();
};

/// The implementation of this build; null for a build without any.
const DeviceRow* device_row();
/// Puts another one in its place (null: gives it back); for tests.
void replace_device_row(const DeviceRow* row);

/// A stretch of the calling thread's time that profilers show under this name; in builds without devices
/// nothing.
class DeviceRange {
 public:
  explicit DeviceRange(const char* name) : row_(device_row()) {
    if (row_ != nullptr) row_->begin_range(name);
  }
  ~DeviceRange() {
    if (row_ != nullptr) row_->end_range();
  }
  DeviceRange(const DeviceRange&) = delete;
  DeviceRange& operator=(const DeviceRange&) = delete;

 private:
  const DeviceRow* row_;
};

/// The device of the calling thread. Throws `weft::Error` if there is none.
std::shared_ptr<Device> current_device();

DeviceRow cuda_row();

}  // namespace weft
