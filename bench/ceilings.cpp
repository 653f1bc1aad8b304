#include "ceilings.hpp"

#include <chrono>
#include <cstring>
#include <vector>

#include "array.hpp"
#include "clock.hpp"
#include "weft/plan.hpp"

namespace weft::bench {

namespace {

constexpr int tries = 15;

/// Best of all tries of the slowest rank.
template <class Try>
double best_time(const Comm& comm, const Try& attempt) {
  double best = 0;
  for (int i = 0; i < tries; ++i) {
    comm.barrier();
    const double time = slowest(comm, attempt());
    best = i == 0 ? time : std::min(best, time);
  }
  return best;
}

double copy_time(const Comm& comm, std::size_t bytes, const std::shared_ptr<Device>& device) {
  if (device) {
    const DeviceScope scope(*device);
    const auto from = device->allocate(bytes, "weft-bench"), to = device->allocate(bytes, "weft-bench");
    const auto stream = device->make_stream();
    const auto begin = device->make_event(true), end = device->make_event(true);
    stream->fill(from.get(), 1, bytes);
    return best_time(comm, [&] {
      stream->record(*begin);
      stream->copy(to.get(), from.get(), bytes);
      stream->record(*end);
      device->wait_for(*end);
      return device->seconds_between(*begin, *end);
    });
  }
  Buffer<char> from(bytes), to(bytes);
  std::memset(from.data(), 1, bytes);
  return best_time(comm, [&] {
    const double begin = seconds();
    std::memcpy(to.data(), from.data(), bytes);
    return seconds() - begin;
  });
}

/// What a rank has sent, and the time of that: of the operations one by one, and from the first to the last,
/// for those that streams do at the same time.
struct Moved {
  double bytes = 0, seconds = 0, begin = 1e300, end = 0;
};

Moved moved(const std::vector<OperationTime>& times, double ranks) {
  Moved m;
  for (const OperationTime& t : times) {
    const std::string kind = t.kind;
    if (kind != "exchange" && kind != "wait" && kind != "put") continue;
    m.seconds += t.end - t.begin;
    m.begin = std::min(m.begin, t.begin);
    m.end = std::max(m.end, t.end);
    if (kind == "exchange") m.bytes += static_cast<double>(t.bytes);
    if (kind == "put") m.bytes += static_cast<double>(t.bytes) * (ranks - 1) / ranks;
  }
  return m;
}

}  // namespace

Ceilings measure_ceilings(const Comm& comm, Index bytes, const std::shared_ptr<Device>& device) {
  Ceilings c;
  const auto size = static_cast<std::size_t>(std::max<Index>(bytes, 1 << 16));
  c.copy_bytes_per_s = 2 * static_cast<double>(size) / copy_time(comm, size, device);
  if (comm.size() == 1) return c;

  // A reshape without any FFT, from slabs to slabs.
  Problem p;
  const Index ranks = comm.size();
  const Index depth = std::max<Index>(1, static_cast<Index>(size) / 16 / ranks);
  p.shape = {ranks, ranks, depth};
  p.transforms = {Transform::none, Transform::none, Transform::none};
  p.output = Distribution::slab(1);
  if (device) p.memory = MemoryKind::cuda;
  Plan plan(comm, p, Options().set("pipeline", "sequential").set("check", "local"));
  plan.record_times(true);
  constexpr std::size_t complex = sizeof(std::complex<double>);
  Array in(plan.input_count() * complex, device), out(plan.output_count() * complex, device);
  double sent = 0;
  c.send_bytes_per_s = 1 / best_time(comm, [&] {
                         plan.forward(static_cast<const void*>(in.data()), out.data());
                         Moved m = moved(plan.operation_times(), static_cast<double>(ranks));
                         sent = m.bytes;
                         return device ? m.end - m.begin : m.seconds;
                       });
  c.send_bytes_per_s *= sent;
  return c;
}

}  // namespace weft::bench
