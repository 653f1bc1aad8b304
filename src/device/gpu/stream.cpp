#include "device/gpu/stream.hpp"

#include <cstdint>
#include <string>

#include "device/gpu/maker.hpp"
#include "kernels/gpu/kernels.hpp"
#include "weft/error.hpp"

namespace weft::gpus {

namespace {
/// None if kernels cannot store them, or not so many.
KernelSignals kernel_signals(const DeviceSignals& signals) {
  KernelSignals stored;
  if (!kernels_store_flags || signals.flags.size() > KernelSignals::most) return stored;
  stored.blocks = reinterpret_cast<unsigned*>(signals.count);
  for (const DeviceFlag& flag : signals.flags)
    stored.add(reinterpret_cast<std::uint32_t*>(flag.at), flag.bits);
  return stored;
}

class Graph final : public DeviceGraph {
 public:
  /// Takes ownership of a captured graph.
  explicit Graph(WEFT_GPU(Graph_t) captured) : captured_(captured) {}
  ~Graph() override {
    if (executable_ != nullptr) static_cast<void>(WEFT_GPU(GraphExecDestroy)(executable_));
    static_cast<void>(WEFT_GPU(GraphDestroy)(captured_));
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch(DeviceStream& stream) override {
    if (executable_ == nullptr) WEFT_GPU_CALL(GraphInstantiateWithFlags, &executable_, captured_, 0);
    WEFT_GPU_CALL(GraphLaunch, executable_, static_cast<StreamHandle>(stream.native()));
  }

  bool update(DeviceGraph& captured) override {
    if (executable_ == nullptr) return false;
    if (update_graph(executable_, static_cast<Graph&>(captured).captured_) == success) return true;
    static_cast<void>(last_status());  // clears it, so that the user's next call does not report it
    return false;
  }

 private:
  WEFT_GPU(Graph_t) captured_;
  WEFT_GPU(GraphExec_t) executable_ = nullptr;  ///< instantiated by the first launch
};
}  // namespace

void check(Status status, const char* call) {
  if (status == success) return;
  static_cast<void>(last_status());
  throw Error(std::string(name) + ": " + call,
              std::string(WEFT_GPU(GetErrorName)(status)) + ": " + WEFT_GPU(GetErrorString)(status),
              "success");
}

Event::Event(bool timed) {
  WEFT_GPU_CALL(EventCreateWithFlags, &event_, timed ? WEFT_GPU(EventDefault) : WEFT_GPU(EventDisableTiming));
}

Event::~Event() {
  static_cast<void>(WEFT_GPU(EventDestroy)(event_));
}

Stream::Stream(bool first) : own_(true) {
  int least = 0, greatest = 0;
  WEFT_GPU_CALL(DeviceGetStreamPriorityRange, &least, &greatest);
  WEFT_GPU_CALL(StreamCreateWithPriority, &stream_, WEFT_GPU(StreamNonBlocking), first ? greatest : least);
}

Stream::~Stream() {
  if (own_) static_cast<void>(WEFT_GPU(StreamDestroy)(stream_));
}

void Stream::record(DeviceEvent& event) {
  WEFT_GPU_CALL(EventRecord, Event::of(event), stream_);
}

void Stream::wait(const DeviceEvent& event) {
  WEFT_GPU_CALL(StreamWaitEvent, stream_, Event::of(event), 0);
}

void Stream::copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  WEFT_GPU_CALL(MemcpyAsync, to, from, bytes, WEFT_GPU(MemcpyDefault), stream_);
}

void Stream::copy_rows(std::byte* to, const std::byte* from, const DeviceRows& rows) {
  if (rows.planes == 1) {
    WEFT_GPU_CALL(Memcpy2DAsync, to, rows.to_pitch, from, rows.from_pitch, rows.bytes, rows.rows,
                  WEFT_GPU(MemcpyDefault), stream_);
    return;
  }
  WEFT_GPU(Memcpy3DParms) copy = {};
  copy.srcPtr = {const_cast<std::byte*>(from), rows.from_pitch, rows.bytes, rows.from_height};
  copy.dstPtr = {to, rows.to_pitch, rows.bytes, rows.to_height};
  copy.extent = {rows.bytes, rows.rows, rows.planes};
  copy.kind = WEFT_GPU(MemcpyDefault);
  WEFT_GPU_CALL(Memcpy3DAsync, &copy, stream_);
}

void Stream::permute(std::span<const DeviceCopyJob> jobs, const DeviceSignals& signals) {
  bool stored = false;
  check(enqueue(jobs, kernel_signals(signals), stored, stream_), "permute-copy kernel");
  if (!stored) flags(signals.flags);
}

void Stream::r2r(std::byte* to, const std::byte* from, const R2rStep& step) {
  check(enqueue(step, to, from, stream_), "r2r kernel");
}

void Stream::lines(const LineArrays& arrays, const LineStep& step, const DeviceSignals& signals) {
  const KernelSignals stored = kernel_signals(signals);
  check(enqueue(step, arrays, stored, stream_), "line FFT kernel");
  if (stored.count == 0) flags(signals.flags);
}

void Stream::planes(const LineArrays& arrays, const PlaneLines& step, std::byte* ring, std::byte* counters) {
  check(enqueue(step, arrays, ring, counters, stream_), "kernel of line FFTs in planes");
}

void Stream::elements(std::byte* at, std::byte* other, const ElementStep& step) {
  check(enqueue(step, at, other, stream_), "element kernel");
}

void Stream::fill(std::byte* at, unsigned char value, std::size_t bytes) {
  WEFT_GPU_CALL(MemsetAsync, at, value, bytes, stream_);
}

void Stream::flags(std::span<const DeviceFlag> flags) {
  enqueue_flags(flags, stream_);
}

// Relaxed mode, because libraries may load a kernel at its first use, and other threads may call anything.
void Stream::begin_capture() {
  WEFT_GPU_CALL(StreamBeginCapture, stream_, WEFT_GPU(StreamCaptureModeRelaxed));
}

std::unique_ptr<DeviceGraph> Stream::end_capture() {
  WEFT_GPU(Graph_t) graph = nullptr;
  WEFT_GPU_CALL(StreamEndCapture, stream_, &graph);
  return std::make_unique<Graph>(graph);
}

}  // namespace weft::gpus
