// The device interface's streams and events for GPUs.
#pragma once

#include "device/device.hpp"
#include "kernels/gpu/runtime.hpp"

namespace weft::gpus {

class Event final : public DeviceEvent {
 public:
  explicit Event(bool timed);
  ~Event() override;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  WEFT_GPU(Event_t) get() const { return event_; }
  static WEFT_GPU(Event_t) of(const DeviceEvent& event) { return static_cast<const Event&>(event).event_; }

 private:
  WEFT_GPU(Event_t) event_ = nullptr;
};

class Stream final : public DeviceStream {
 public:
  /// A new stream, which does not synchronise with the default stream.
  explicit Stream(bool first);
  explicit Stream(StreamHandle borrowed) : stream_(borrowed) {}
  ~Stream() override;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void* native() const override { return stream_; }
  void record(DeviceEvent& event) override;
  void wait(const DeviceEvent& event) override;
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) override;
  void copy_rows(std::byte* to, const std::byte* from, const DeviceRows& rows) override;
  using DeviceStream::permute;
  void permute(std::span<const DeviceCopyJob> jobs, const DeviceSignals& signals) override;
  void r2r(std::byte* to, const std::byte* from, const R2rStep& step) override;
  void lines(const LineArrays& arrays, const LineStep& step, const DeviceSignals& signals) override;
  void planes(const LineArrays& arrays, const PlaneLines& step, std::byte* ring,
              std::byte* counters) override;
  void elements(std::byte* at, std::byte* other, const ElementStep& step) override;
  void fill(std::byte* at, unsigned char value, std::size_t bytes) override;
  void flags(std::span<const DeviceFlag> flags) override;
  void begin_capture() override;
  std::unique_ptr<DeviceGraph> end_capture() override;

 private:
  StreamHandle stream_ = nullptr;
  bool own_ = false;
};

}  // namespace weft::gpus
