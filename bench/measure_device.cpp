#include "measure_device.hpp"

#include <algorithm>
#include <cmath>

#include "codec/codec.hpp"
#include "kernels/device_copy.hpp"
#include "measure_machine.hpp"
#include "weft/plan.hpp"

namespace weft::bench {

namespace {

constexpr int element = 16;

DeviceCopy plain_copy(Index bytes) {
  return {copy_loops({bytes / element}, {1}, {1}), element};
}

/// What is left of a time without what a kernel takes at least, of which some is measured anew each time.
double beyond(double seconds, double least) {
  return std::max(seconds - least, 0.05 * seconds);
}

/// What streams and their host take beside the work.
class Overheads {
 public:
  Overheads(DeviceTimer& timer, DeviceDescription& d)
      : timer_(timer), d_(d), small_(plain_copy(element)), stream_(timer.stream()) {}

  void measure() {
    const DeviceTimer::Times kernels = timer_.time(many, [&] { kernel(); });
    d_.kernel_s = kernels.device_s;
    d_.launch_kernel_s = kernels.host_s;
    d_.launch_copy_s = timer_.time(many, [&] { stream_.copy(timer_.to(), timer_.from(), 4096); }).host_s;
    events();
    flags();
    graphs();
  }

 private:
  static constexpr int many = 100;

  void kernel() { stream_.permute(timer_.to(), timer_.from(), small_); }

  /// Two streams that wait for each other in turn.
  void events() {
    const auto other = timer_.device().make_stream(true);
    const auto there = timer_.device().make_event(false), back = timer_.device().make_event(false);
    std::byte* const apart = timer_.to() + timer_.bytes() / 2;
    const double both = timer_.device_seconds(many / 2, [&] {
      kernel();
      stream_.record(*there);
      other->wait(*there);
      other->permute(apart, timer_.from(), small_);
      other->record(*back);
      stream_.wait(*back);
    });
    d_.event_s = std::max(0.0, both / 2 - d_.kernel_s);
    d_.launch_event_s = timer_
                            .time(many / 2,
                                  [&] {
                                    stream_.record(*there);
                                    other->wait(*there);
                                  })
                            .host_s /
                        2;
  }

  void flags() {
    const auto memory = timer_.device().allocate(256, DeviceTimer::what);
    stream_.fill(memory.get(), 0, 256);
    const DeviceFlag raises{memory.get(), 1, false}, sees{memory.get(), 1, true};
    const auto with = [&](const DeviceFlag& flag) {
      return timer_.time(many, [&] {
        kernel();
        stream_.flags({&flag, 1});
      });
    };
    const DeviceTimer::Times raising = with(raises), seeing = with(sees);
    d_.flag_raise_s = std::max(0.0, raising.device_s - d_.kernel_s);
    d_.flag_see_s = std::max(0.0, seeing.device_s - d_.kernel_s);
    d_.launch_flags_s = std::max(0.0, (raising.host_s + seeing.host_s) / 2 - d_.launch_kernel_s);
  }

  /// Of few nodes and of many.
  void graphs() {
    const DeviceTimer::Times few = graph_of(1), more = graph_of(1 + many);
    d_.node_s = std::max(0.0, (more.device_s - few.device_s) / many);
    d_.launch_node_s = std::max(0.0, (more.host_s - few.host_s) / many);
    d_.launch_graph_s = std::max(0.0, few.host_s - d_.launch_node_s);
  }

  DeviceTimer::Times graph_of(int nodes) {
    DeviceCapture capture(stream_);
    for (int i = 0; i < nodes; ++i) kernel();
    const std::unique_ptr<DeviceGraph> graph = capture.end();
    return timer_.time(4, [&] { graph->launch(stream_); });
  }

  DeviceTimer& timer_;
  DeviceDescription& d_;
  DeviceCopy small_;
  DeviceStream& stream_;
};

/// By the bytes of both sides, by a kernel.
Curve device_copies(DeviceTimer& timer, const DeviceSizes& sizes, double kernel_s) {
  std::vector<CurvePoint> points;
  // Where the cache ends matters most.
  for (double bytes = static_cast<double>(sizes.cached); bytes <= 2.01 * static_cast<double>(sizes.memory);
       bytes *= std::sqrt(2)) {
    const Index side = static_cast<Index>(bytes / 2) / element * element;
    const DeviceCopy copy = plain_copy(side);
    const double time =
        timer.device_seconds(8, [&] { timer.stream().permute(timer.to(), timer.from(), copy); });
    points.push_back({2 * static_cast<double>(side), 2 * static_cast<double>(side) / beyond(time, kernel_s)});
  }
  return Curve(points);
}

/// Rows of so many bytes to where rows have another order, over a copy of as many bytes.
Curve device_shares(DeviceTimer& timer, const DeviceSizes& sizes, double kernel_s) {
  std::vector<CurvePoint> points;
  const DeviceCopy plain = plain_copy(sizes.memory);
  const double whole = beyond(
      timer.device_seconds(3, [&] { timer.stream().permute(timer.to(), timer.from(), plain); }), kernel_s);
  for (Index run = element; run <= 16 << 10; run *= 4) {
    const Index width = run / element, rows = sizes.memory / run, columns = std::min<Index>(rows, 64);
    const DeviceCopy copy{copy_loops({rows / columns, columns, width}, {columns * width, width, 1},
                                     {width, rows / columns * width, 1}),
                          element};
    const double time = beyond(
        timer.device_seconds(3, [&] { timer.stream().permute(timer.to(), timer.from(), copy); }), kernel_s);
    points.push_back({static_cast<double>(run), std::min(1.0, whole / time)});
  }
  return Curve(points);
}

/// How many bytes of copies are nearer to the fastest than to the slowest.
Index cache_of(const Curve& copies) {
  const std::vector<CurvePoint>& points = copies.points();
  const auto fastest = std::max_element(points.begin(), points.end(),
                                        [](const CurvePoint& a, const CurvePoint& b) { return a.y < b.y; });
  const double middle = (1 / fastest->y + 1 / points.back().y) / 2;
  const auto leaves =
      std::find_if(fastest, points.end(), [&](const CurvePoint& p) { return 1 / p.y > middle; });
  return static_cast<Index>(std::prev(leaves)->x);  // the fastest is before it
}

/// Numbers of usual size, in rows along the last axis of a square.
std::vector<CodecSpeed> device_codecs(DeviceTimer& timer, const DeviceSizes& sizes) {
  std::vector<CodecSpeed> speeds;
  const auto fault = timer.device().allocate_pinned(sizeof(std::uint32_t), DeviceTimer::what);
  const CodingFault told{reinterpret_cast<std::uint32_t*>(fault.get()), 0};
  timer.stream().fill(timer.from(), 0x3f, static_cast<std::size_t>(sizes.memory));
  constexpr Index n = 512;
  for (const auto& [codec, real] : described_codecs()) {
    const Index rows = sizes.memory / (n * 2 * real), row = row_bytes(codec, 2 * n, real);
    CodedRequest request{codec, true, real, 2 * real, {rows, n}, {n, 1}, {row, 0}, 1, n, 0, 1};
    DeviceCopy encoding, decoding;
    encoding.coded = std::make_shared<DeviceCoding>(request, told);
    request.encodes = false;
    decoding.coded = std::make_shared<DeviceCoding>(request, told);
    const auto bytes = static_cast<double>(rows * n * 2 * real);
    DeviceStream& stream = timer.stream();
    const double encode =
        timer.device_seconds(3, [&] { stream.permute(timer.to(), timer.from(), encoding); });
    const double decode =
        timer.device_seconds(3, [&] { stream.permute(timer.from(), timer.to(), decoding); });
    speeds.push_back({codec.row->name, real, bytes / encode, bytes / decode});
  }
  return speeds;
}

/// Of a plan that does nothing but copy a few numbers, until the result is there.
double execution_of(const std::shared_ptr<Device>& device, const char* graph) {
  Problem p;
  p.shape = {4, 4, 4};
  p.transforms = {Transform::none, Transform::none, Transform::none};
  p.memory = MemoryKind::cuda;
  Plan plan(Comm::self(), p, Options().set("effort", "estimate").set("graph", graph));
  const auto in = device->allocate(4096, DeviceTimer::what), out = device->allocate(4096, DeviceTimer::what);
  const auto stream = device->make_stream();
  stream->fill(in.get(), 0, 4096);
  plan.set_stream(static_cast<CUstream_st*>(stream->native()));
  std::vector<double> times;
  for (int i = -20; i < 200; ++i) {
    const double begin = seconds();
    plan.forward(static_cast<const void*>(in.get()), static_cast<void*>(out.get()));
    plan.wait();
    if (i >= 0) times.push_back(seconds() - begin);
  }
  return summarise(times).median;
}

}  // namespace

DeviceDescription measure_device(const std::shared_ptr<Device>& device, const DeviceSizes& sizes) {
  const DeviceScope scope(*device);
  DeviceTimer timer(*device, static_cast<std::size_t>(sizes.memory));
  DeviceDescription d;
  d.name = device->model();
  Overheads(timer, d).measure();
  d.copy_alone = device_copies(timer, sizes, d.kernel_s);
  d.cache_bytes = cache_of(d.copy_alone);
  d.share_by_run = device_shares(timer, sizes, d.kernel_s);
  d.ffts = measure_device_ffts(timer, sizes);
  d.ratios = measure_device_ratios(timer, sizes);
  d.codecs = device_codecs(timer, sizes);
  d.launch_fft_s = measure_device_fft_launch(timer);
  d.execution_s = std::max(0.0, execution_of(device, "off") - d.launch_kernel_s - d.kernel_s);
  // A graph also begins later than a kernel.
  d.launch_graph_s =
      std::max(d.launch_graph_s, execution_of(device, "on") - d.execution_s - d.launch_node_s - d.node_s);
  return d;
}

}  // namespace weft::bench
