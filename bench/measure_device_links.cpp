#include <algorithm>
#include <array>
#include <string>

#include "api/plan_impl.hpp"
#include "by_some.hpp"
#include "exchange_alone.hpp"
#include "kernels/device_copy.hpp"
#include "measure_device.hpp"
#include "transport/peer/peer_memory.hpp"

namespace weft::bench {

namespace {

constexpr Index smallest_part = 64 << 10;

/// By the bytes of a part, from the seconds that each size takes. A copy of a few bytes takes the latency.
template <class SecondsOf>
LinkDescription link_of(const char* between, const char* carries, Index largest, double latency,
                        const SecondsOf& seconds_of) {
  LinkDescription link;
  link.between = between;
  link.carries = carries;
  link.latency_s = latency;
  std::vector<CurvePoint> points;
  for (Index bytes = smallest_part; bytes <= largest; bytes *= 4) {
    const double time = seconds_of(bytes);
    const auto size = static_cast<double>(bytes);
    points.push_back({size, size / std::max(time - latency, 0.05 * time)});
  }
  link.bytes_per_s = Curve(points);
  return link;
}

/// The slower of both ways.
LinkDescription host_link(const std::shared_ptr<Device>& device, const DeviceSizes& sizes) {
  const DeviceScope scope(*device);
  const Index largest = sizes.memory / 2;
  DeviceTimer timer(*device, static_cast<std::size_t>(sizes.memory));
  const auto pinned = device->allocate_pinned(static_cast<std::size_t>(largest), DeviceTimer::what);
  const auto seconds_of = [&](Index bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    const int repeat = bytes > (1 << 20) ? 2 : 20;
    return std::max(
        timer.device_seconds(repeat, [&] { timer.stream().copy(pinned.get(), timer.from(), size); }),
        timer.device_seconds(repeat, [&] { timer.stream().copy(timer.to(), pinned.get(), size); }));
  };
  return link_of(over_host, by_engines, largest, seconds_of(256), seconds_of);
}

/// Two ranks raise flags for each other in turn: what a flag travels, beside what streams take for it.
double flag_time(const Comm& comm, Device& device, const PeerMemory& memory, const DeviceDescription& d) {
  constexpr int rounds = 50, apart = 64;  // bytes between flags
  const auto stream = device.make_stream();
  const auto begin = device.make_event(true), end = device.make_event(true);
  const int me = comm.rank(), peer = 1 - me;
  comm.barrier();
  stream->record(*begin);
  for (int k = 0; k < rounds; ++k) {
    const std::array raises{DeviceFlag{memory.of(peer) + apart * k, 1, false}};
    const std::array sees{DeviceFlag{memory.of(me) + apart * k, 1, true}};
    if (me == 0) stream->flags(raises);
    stream->flags(sees);
    if (me == 1) stream->flags(raises);
  }
  stream->record(*end);
  device.wait_for(*end);
  const double time = slowest(comm, device.seconds_between(*begin, *end)) / (2 * rounds);
  return std::max(0.0, time - d.flag_raise_s - d.flag_see_s);
}

/// Of the first two ranks, each sending to the other at the same time.
std::vector<LinkDescription> peer_links(const Comm& pair, const std::shared_ptr<Device>& device,
                                        const DeviceSizes& sizes, const DeviceDescription& d) {
  const Plan direct = exchange_alone(pair, smallest_part, true, {"direct"});
  const PlanImpl& plan = PlanImpl::of(direct);
  const DeviceScope scope(*device);
  const Index largest = sizes.memory / 2;
  constexpr std::size_t flags = 64 << 10;
  const auto begins = static_cast<std::size_t>(Index{2} << 20);  // as workspaces do, behind the flags
  const PeerMemory memory(pair.impl(), device, plan.devices.ids, plan.setting.near_groups(),
                          begins + static_cast<std::size_t>(largest), flags);
  DeviceTimer timer(*device, static_cast<std::size_t>(sizes.memory));
  std::byte* const to = memory.of(1 - pair.rank()) + begins;
  const auto together = [&](Index bytes, const auto& enqueue) {
    pair.barrier();
    return slowest(pair, timer.device_seconds(bytes > (1 << 20) ? 4 : 20, enqueue));
  };
  const auto by_kernel = [&](Index bytes) {
    constexpr int element = 16;
    const DeviceCopy copy{copy_loops({bytes / element}, {1}, {1}), element};
    return together(bytes, [&] { timer.stream().permute(to, timer.from(), copy); });
  };
  const auto by_engine = [&](Index bytes) {
    return together(bytes, [&] { timer.stream().copy(to, timer.from(), static_cast<std::size_t>(bytes)); });
  };
  // What a kernel takes at least is counted as that of any kernel.
  const double least = by_kernel(256);
  LinkDescription stores = link_of(over_peer, by_stores, largest, least, by_kernel);
  stores.latency_s = std::max(0.0, least - d.kernel_s);
  stores.flag_s = flag_time(pair, *device, memory, d);
  return {stores, link_of(over_peer, by_engines, largest, by_engine(256), by_engine)};
}

}  // namespace

std::vector<LinkDescription> measure_device_links(const Comm& comm, const std::shared_ptr<Device>& device,
                                                  const DeviceDescription& described,
                                                  const DeviceSizes& sizes) {
  std::vector<LinkDescription> links;
  by_some(comm, comm.rank() == 0, [&] { links.push_back(host_link(device, sizes)); });
  if (comm.size() == 1) return links;
  DeviceDescription d = described;
  for (double* s : {&d.kernel_s, &d.flag_raise_s, &d.flag_see_s}) *s = slowest(comm, *s);  // of rank 0
  const Comm pair = comm.split(comm.rank() < 2 ? 0 : 1);
  const Plan any = exchange_alone(comm, smallest_part, true);
  const DeviceFacts& facts = *PlanImpl::of(any).setting.devices;
  const bool reach = facts.own_devices() && facts.islands.of[0] == facts.islands.of[1];
  by_some(comm, comm.rank() < 2 && reach, [&] {
    for (LinkDescription& link : peer_links(pair, device, sizes, d)) links.push_back(std::move(link));
  });
  return links;
}

}  // namespace weft::bench
