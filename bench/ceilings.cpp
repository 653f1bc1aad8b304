#include "ceilings.hpp"

#include <chrono>
#include <cstring>
#include <vector>

#include "clock.hpp"
#include "weft/buffer.hpp"
#include "weft/plan.hpp"

namespace weft::bench {

namespace {

constexpr int tries = 15;

double copy_time(const Comm& comm, std::size_t bytes) {
  Buffer<char> from(bytes), to(bytes);
  std::memset(from.data(), 1, bytes);
  double best = 0;
  for (int i = 0; i < tries; ++i) {
    comm.barrier();
    const double begin = seconds();
    std::memcpy(to.data(), from.data(), bytes);
    const double time = slowest(comm, seconds() - begin);
    best = i == 0 ? time : std::min(best, time);
  }
  return best;
}

}  // namespace

Ceilings measure_ceilings(const Comm& comm, Index bytes) {
  Ceilings c;
  const auto size = static_cast<std::size_t>(std::max<Index>(bytes, 1 << 16));
  c.copy_bytes_per_s = 2 * static_cast<double>(size) / copy_time(comm, size);
  if (comm.size() == 1) return c;

  // A reshape without any FFT, from slabs to slabs.
  Problem p;
  const Index ranks = comm.size();
  const Index depth = std::max<Index>(1, static_cast<Index>(size) / 16 / ranks);
  p.shape = {ranks, ranks, depth};
  p.transforms = {Transform::none, Transform::none, Transform::none};
  p.output = Distribution::slab(1);
  Plan plan(comm, p, Options().set("pipeline", "sequential").set("check", "local"));
  plan.record_times(true);
  Buffer<std::complex<double>> in(plan.input_count()), out(plan.output_count());
  double best = 0, sent = 0;
  for (int i = 0; i < tries; ++i) {
    comm.barrier();
    plan.forward(in.data(), out.data());
    double time = 0;
    sent = 0;
    for (const OperationTime& t : plan.operation_times()) {
      const std::string kind = t.kind;
      if (kind == "exchange" || kind == "wait" || kind == "put") time += t.end - t.begin;
      if (kind == "exchange") sent += static_cast<double>(t.bytes);
      if (kind == "put")
        sent += static_cast<double>(t.bytes) * static_cast<double>(ranks - 1) / static_cast<double>(ranks);
    }
    time = slowest(comm, time);
    best = i == 0 ? time : std::min(best, time);
  }
  c.send_bytes_per_s = sent / best;
  return c;
}

}  // namespace weft::bench
