#include "ceilings.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

#include "api/plan_impl.hpp"
#include "array.hpp"
#include "clock.hpp"
#include "comm/agree.hpp"
#include "exchange_alone.hpp"
#include "traffic.hpp"
#include "transport/peer/peer_memory.hpp"
#include "tune/machine.hpp"
#include "tune/wisdom_store.hpp"
#include "weft/plan.hpp"
#include "weft/wisdom.hpp"

namespace weft::bench {

namespace {

constexpr const char* operation = "weft-bench";
constexpr int tries = 15;
/// Arrays of ceilings that are kept, of devices: beyond their caches.
constexpr Index kept_bytes = Index{128} << 20;
/// Enough for any, and leaves room for arrays that fill the memory.
constexpr Index most_bytes = Index{1} << 30;

/// Copies by the copy engine of a device.
class DeviceCopies {
 public:
  explicit DeviceCopies(Device& device)
      : device_(device),
        stream_(device.make_stream()),
        begin_(device.make_event(true)),
        end_(device.make_event(true)) {}

  /// Seconds, behind a copy that does not count, so that the time to enqueue it does not either.
  double time(std::byte* to, const std::byte* from, std::size_t bytes) {
    stream_->copy(to, from, bytes);
    stream_->record(*begin_);
    stream_->copy(to, from, bytes);
    stream_->record(*end_);
    device_.wait_for(*end_);
    return device_.seconds_between(*begin_, *end_);
  }

 private:
  Device& device_;
  std::unique_ptr<DeviceStream> stream_;
  std::unique_ptr<DeviceEvent> begin_, end_;
};

double copy_time(const Comm& comm, std::size_t bytes, const std::shared_ptr<Device>& device) {
  if (device) {
    const DeviceScope scope(*device);
    const auto from = device->allocate(bytes, operation), to = device->allocate(bytes, operation);
    DeviceCopies copies(*device);
    return best_time(comm, tries, [&] { return copies.time(to.get(), from.get(), bytes); });
  }
  Buffer<std::byte> from, to;
  agree(comm.impl(), operation, [&] {
    for (Buffer<std::byte>* array : {&from, &to})
      *array = host_memory(bytes, "an array that is copied to measure the bandwidth of memory");
  });
  std::memset(from.data(), 1, bytes);
  return best_time(comm, tries, [&] {
    const double begin = seconds();
    std::memcpy(to.data(), from.data(), bytes);
    return seconds() - begin;
  });
}

/// To every other rank, by how far it is behind this one.
std::vector<double> link_speeds(const Comm& comm, const PlanImpl& plan, std::size_t bytes) {
  std::vector<double> speeds;
  if (!plan.devices.mine || plan.setting.some_far()) return speeds;
  Device& device = *plan.devices.mine;
  const DeviceScope scope(device);
  const PeerMemory landing(comm.impl(), plan.devices.mine, plan.devices.ids, plan.setting.near_groups(),
                           bytes, 0);
  const std::shared_ptr<std::byte> from = device.allocate(bytes, operation);
  DeviceCopies copies(device);
  for (int further = 1; further < comm.size(); ++further) {
    std::byte* const to = landing.of((comm.rank() + further) % comm.size());
    const double time = best_time(comm, tries, [&] { return copies.time(to, from.get(), bytes); });
    speeds.push_back(static_cast<double>(bytes) / time);
  }
  return speeds;
}

Ceilings measure(const Comm& comm, Index bytes, const std::shared_ptr<Device>& device) {
  Ceilings c;
  const auto size = static_cast<std::size_t>(std::max<Index>(bytes, 1 << 16));
  c.copy_bytes_per_s = 2 * static_cast<double>(size) / copy_time(comm, size, device);
  if (comm.size() == 1) return c;
  Plan exchange = exchange_alone(comm, size, device != nullptr);
  c.send_bytes_per_s =
      bytes_sent(exchange, Direction::forward) / exchange_time(comm, exchange, device, tries).slowest_s;
  c.link_bytes_per_s = link_speeds(comm, PlanImpl::of(exchange), size);
  return c;
}

/// What wisdom calls them; `links`: whether there are any.
std::map<std::string, double*> by_name(Ceilings& c, int ranks, bool links) {
  std::map<std::string, double*> all{{"copy_bytes_per_s", &c.copy_bytes_per_s}};
  if (ranks > 1) all["send_bytes_per_s"] = &c.send_bytes_per_s;
  c.link_bytes_per_s.resize(links ? static_cast<std::size_t>(ranks) - 1 : 0);
  for (std::size_t i = 0; i < c.link_bytes_per_s.size(); ++i)
    all["link_bytes_per_s." + std::to_string(i + 1)] = &c.link_bytes_per_s[i];
  return all;
}

/// From wisdom, or measured and added to it.
Ceilings remembered(const Comm& comm, const CeilingRequest& request) {
  CommImpl& c = comm.impl();
  agree(c, operation, [&] {
    if (c.rank() == 0) import_wisdom(request.wisdom);
  });
  const Plan small = exchange_alone(comm, 1 << 16, true);
  const PlanImpl& plan = PlanImpl::of(small);
  const Machine machine = machine_of(c, {}, plan.setting.devices->text);
  const Wisdom known = share_wisdom(c, machine);
  Ceilings ceilings;
  ceilings.remembered = true;
  for (const auto& [name, value] : by_name(ceilings, c.size(), !plan.setting.some_far() && c.size() > 1)) {
    const std::optional<double> found = known.constant(machine.fingerprint, name);
    *value = found.value_or(0);
    ceilings.remembered = ceilings.remembered && *value > 0;
  }
  if (ceilings.remembered) return ceilings;
  ceilings = measure(comm, std::clamp(request.bytes, kept_bytes, most_bytes), request.device);
  agree(c, operation, [&] {
    if (c.rank() != 0) return;
    WisdomStore::of_process().with([&](Wisdom& wisdom) {
      for (const auto& [name, value] : by_name(ceilings, c.size(), !ceilings.link_bytes_per_s.empty()))
        wisdom.remember_constant(machine.fingerprint, name, *value);
    });
    export_wisdom(request.wisdom);
  });
  return ceilings;
}

}  // namespace

Ceilings find_ceilings(const Comm& comm, const CeilingRequest& request) {
  if (request.device && !request.wisdom.empty()) return remembered(comm, request);
  return measure(comm, std::min(request.bytes, most_bytes), request.device);
}

}  // namespace weft::bench
