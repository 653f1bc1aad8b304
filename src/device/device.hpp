// The device interface: all that Weft needs of a GPU besides local FFTs. Devices, memory, streams, events,
// copies, graphs, the kernels of DCTs and DSTs, of line FFTs and of single elements, and flags that streams
// set and wait for. The GPUs of a maker implement it (device/gpu, with device/cuda or device/hip), and so
// does a test double that runs streams as queues on the host. Code above does not know which one it uses.
//
// Calls of streams only enqueue: they return at once and allocate nothing. All calls throw `weft::Error` on
// failure. A thread enters a device (`DeviceScope`) before it uses it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/device_copy.hpp"
#include "kernels/elements/steps.hpp"
#include "kernels/lines/planes.hpp"
#include "kernels/lines/step.hpp"
#include "kernels/r2r/step.hpp"

namespace weft {

/// Rows of bytes, with the distance between rows in source and destination. Planes of them are so many rows
/// apart.
struct DeviceRows {
  std::size_t rows = 1, bytes = 0;
  std::size_t from_pitch = 0, to_pitch = 0;
  std::size_t planes = 1;
  std::size_t from_height = 0, to_height = 0;
};

/// A 32-bit flag in device memory. A stream stores `bits` in it, or waits until any of `bits` is set; it
/// waits only for flags in memory of its own device.
struct DeviceFlag {
  std::byte* at;
  std::uint32_t bits;
  bool waits;
};

/// Flags that kernels store when they are done.
struct DeviceSignals {
  std::span<const DeviceFlag> flags;
  std::byte* count = nullptr;  ///< 32-bit counter in the device's memory, zero before and after
};

/// A point in a stream.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
};

class DeviceStream;

/// Work captured from streams, which can be launched as a whole any number of times. Each launch runs after
/// the launches before it.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  /// Enqueues the work. The first launch may allocate.
  virtual void launch(DeviceStream& stream) = 0;
  /// Replaces the work by that of `captured`, which was never launched. Returns false, and changes nothing,
  /// if the two differ too much. Takes less time than the first launch of another graph.
  virtual bool update(DeviceGraph& captured) = 0;
};

/// Work that is done in the order in which it was enqueued. Addresses are in memory of this device, in memory
/// of a device that it is connected with, or in pinned memory.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;
  /// The native handle, a cudaStream_t or hipStream_t.
  virtual void* native() const = 0;

  virtual void record(DeviceEvent& event) = 0;
  /// Later work waits for the point at which the event was last recorded.
  virtual void wait(const DeviceEvent& event) = 0;

  /// Copies by copy engines, where possible, so that multiprocessors stay free.
  virtual void copy(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
  virtual void copy_rows(std::byte* to, const std::byte* from, const DeviceRows& rows) = 0;
  /// Copies by kernels, in any order and at the same time, so that none may write what another one reads or
  /// writes. Afterwards the signals' flags are stored, as by `flags`.
  virtual void permute(std::span<const DeviceCopyJob> jobs, const DeviceSignals& signals) = 0;
  void permute(std::byte* to, const std::byte* from, const DeviceCopy& copy) {
    const DeviceCopyJob job{to, from, &copy};
    permute({&job, 1}, {});
  }
  /// The step of a DCT or DST before or after its FFT.
  virtual void r2r(std::byte* to, const std::byte* from, const R2rStep& step) = 0;
  /// FFTs of lines whose points lie apart. Afterwards the signals' flags are stored, as by `flags`.
  virtual void lines(const LineArrays& arrays, const LineStep& step, const DeviceSignals& signals) = 0;
  /// FFTs along two axes of planes in one launch. `ring` is work memory of `ring_bytes()` bytes; `counters`
  /// are used by no other launch at the same time.
  virtual void planes(const LineArrays& arrays, const PlaneLines& step, std::byte* ring,
                      std::byte* counters) = 0;
  /// Does something with each element of a box at `at`; `other` is the second array of steps that have one.
  virtual void elements(std::byte* at, std::byte* other, const ElementStep& step) = 0;
  virtual void fill(std::byte* at, unsigned char value, std::size_t bytes) = 0;

  /// Stores flags, or waits for them, one after the other. A flag is stored when all work before it is done
  /// and visible to every device that sees the flag. Work after a flag that is waited for starts when the
  /// flag is set. No kernel spins.
  virtual void flags(std::span<const DeviceFlag> flags) = 0;

  /// From here to `end_capture`, work on this stream, and on streams that wait for its events, is recorded in
  /// a graph and not done. Before the end, this stream must wait for events of all these streams. Only for
  /// streams of `make_stream`. Meanwhile the thread must not allocate device memory nor query events.
  virtual void begin_capture() = 0;
  virtual std::unique_ptr<DeviceGraph> end_capture() = 0;
};

/// Captures what is enqueued on a stream, until `end` or the end of its lifetime.
class DeviceCapture {
 public:
  explicit DeviceCapture(DeviceStream& stream) : stream_(&stream) { stream.begin_capture(); }
  ~DeviceCapture();
  DeviceCapture(const DeviceCapture&) = delete;
  DeviceCapture& operator=(const DeviceCapture&) = delete;
  std::unique_ptr<DeviceGraph> end();

 private:
  DeviceStream* stream_;  ///< null after `end`
};

/// Identifies a device, alike in every process that uses it.
using DeviceId = std::array<unsigned char, 16>;
/// Lets another process of the machine map device memory.
using DeviceMemoryHandle = std::array<unsigned char, 64>;

class Device {
 public:
  virtual ~Device() = default;
  virtual const std::string& name() const = 0;
  /// The same for devices that are equally fast: "NVIDIA H200, 132 multiprocessors".
  virtual const std::string& model() const = 0;
  virtual DeviceId id() const = 0;
  /// Where it is on PCI, in small letters: "0000:3b:00.0"; empty if it is not there.
  virtual const std::string& pci_address() const = 0;
  /// How many blocks of threads can share the lines of `DeviceStream::lines`; 1: none can.
  virtual int most_line_parts() const = 0;
  /// Whether graphs capture what `DeviceStream::flags` enqueues.
  virtual bool captures_flags() const = 0;

  /// `enter` makes the device current in the calling thread, `leave` restores the one that was current
  /// before.
  virtual void enter() = 0;
  virtual void leave() noexcept = 0;

  /// Whether streams of this device can be allowed to read and write the memory of `other`.
  virtual bool reaches(const DeviceId& other) const = 0;
  /// Allows it. Repeated calls do nothing.
  virtual void connect(const DeviceId& other) = 0;

  /// Uninitialised memory at a multiple of 256 bytes; null for 0 bytes. The error names `operation` if too
  /// little is free. Allocating and freeing wait for the device.
  virtual std::shared_ptr<std::byte> allocate(std::size_t bytes, const char* operation) = 0;
  /// Bytes that are free at the moment, and bytes in all.
  virtual double free_bytes() const = 0;
  virtual double total_bytes() const = 0;
  /// Pinned memory of the host, which the device can copy from and to.
  virtual std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes, const char* operation) = 0;
  /// `give` exports memory of `allocate` for other processes; `take` maps what another process has exported.
  virtual DeviceMemoryHandle give(const std::byte* memory) = 0;
  virtual std::shared_ptr<std::byte> take(const DeviceMemoryHandle& handle) = 0;
  /// Whether streams of this device can use the memory at `pointer` as memory of their own device.
  virtual bool holds(const void* pointer) const = 0;

  /// A new stream, of the highest priority if `first`.
  virtual std::unique_ptr<DeviceStream> make_stream(bool first = false) = 0;
  /// A stream that belongs to the caller, by its native handle; null is the default stream.
  virtual std::unique_ptr<DeviceStream> borrow_stream(void* native) = 0;
  /// `timed`: the event can be used in `seconds_between`.
  virtual std::unique_ptr<DeviceEvent> make_event(bool timed) = 0;
  /// `passed`: whether the work before the recorded point is done. `wait_for` returns when it is.
  virtual bool passed(const DeviceEvent& event) const = 0;
  virtual void wait_for(const DeviceEvent& event) const = 0;
  /// The time between two timed events that have been passed.
  virtual double seconds_between(const DeviceEvent& begin, const DeviceEvent& end) const = 0;
};

/// Makes a device current in the calling thread for the lifetime of the object.
class DeviceScope {
 public:
  explicit DeviceScope(Device& device) : device_(device) { device_.enter(); }
  ~DeviceScope() { device_.leave(); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  Device& device_;
};

/// An implementation of the device interface.
struct DeviceRow {
  const char* name;
  /// Why this process has no device that can be used; empty if it has one.
  std::string (*missing)();
  /// The current device of the calling thread; one object per device. Only if `missing` is empty.
  std::shared_ptr<Device> (*current)();
  /// Prepares `holds`: finds out whether this process already uses devices, without initialising them.
  void (*notice)();
  /// Whether `pointer` is to memory that only devices can access. Allocates nothing.
  bool (*holds)(const void* pointer);
  /// A named range of the calling thread's time for profilers. Ranges nest. Costs next to nothing without a
  /// profiler.
  void (*begin_range)(const char* name);
  void (*end_range)();
};

/// The implementation in use; null in a build without devices.
const DeviceRow* device_row();
/// Uses another implementation; null restores that of the build. For tests.
void replace_device_row(const DeviceRow* row);

/// A range of the calling thread's time that profilers show under `name`. Without devices it does nothing.
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

/// The current device of the calling thread. Throws `weft::Error` if there is none.
std::shared_ptr<Device> current_device();

DeviceRow gpu_row();

}  // namespace weft
