#include "exchange_alone.hpp"

#include <algorithm>
#include <array>
#include <complex>

#include "array.hpp"
#include "clock.hpp"
#include "comm/agree.hpp"
#include "statistics.hpp"

namespace weft::bench {

namespace {

/// The time of what carries data: of the operations one by one, and from the first to the last, for those
/// that streams do at the same time.
struct Moved {
  double seconds = 0, begin = 1e300, end = 0;
  int posts = 0;
};

Moved moved(const std::vector<OperationTime>& times) {
  Moved m;
  for (const OperationTime& t : times) {
    const std::string kind = t.kind;
    if (kind != "exchange" && kind != "wait" && kind != "put") continue;
    m.seconds += t.end - t.begin;
    m.posts += kind == "exchange" ? 1 : 0;
    m.begin = std::min(m.begin, t.begin);
    m.end = std::max(m.end, t.end);
  }
  return m;
}

/// What a plan reads and writes. Collective.
struct Arrays {
  Array in, out;
  Arrays(const Comm& comm, const Plan& plan, const std::shared_ptr<Device>& device) {
    constexpr std::size_t complex = sizeof(std::complex<double>);
    agree(comm.impl(), "weft-bench", [&] {
      const char* const what = "an array that is exchanged to measure how fast ranks send";
      in = Array(plan.input_count() * complex, device, what);
      out = Array(plan.output_count() * complex, device, what);
    });
  }
};

/// Computes for about 100 us in the first-level cache.
void compute() {
  static thread_local std::array<double, 2048> values{};
  for (int i = 0; i < 250; ++i)
    for (double& v : values) v = v * 0.999 + 1e-3;
}

}  // namespace

Plan exchange_alone(const Comm& comm, std::size_t bytes, bool on_device, const ExchangedBy& by) {
  Problem p;
  const Index ranks = comm.size();
  const Index depth = std::max<Index>(1, static_cast<Index>(bytes) / 16 / ranks / by.planes);
  p.shape = {ranks * by.planes, ranks, depth};
  p.transforms = {Transform::none, Transform::none, Transform::none};
  p.output = Distribution::slab(1);
  if (on_device) p.memory = MemoryKind::cuda;
  return {comm, p,
          Options()
              .set("pipeline", by.planes > 1 ? "planes" : "sequential")
              .set("check", "local")
              .set("effort", "estimate")
              .set("exchange", by.exchange)
              .set("rails", by.rails)};
}

ExchangeTime exchange_time(const Comm& comm, Plan& plan, const std::shared_ptr<Device>& device, int tries) {
  plan.record_times(true);
  Arrays arrays(comm, plan, device);
  double starting = 1e300;
  ExchangeTime time;
  time.slowest_s = best_time(comm, tries, [&] {
    plan.forward(static_cast<const void*>(arrays.in.data()), arrays.out.data());
    const std::vector<OperationTime> times = plan.operation_times();
    const Moved m = moved(times);
    const double seconds = device || m.posts > 1 ? m.end - m.begin : m.seconds;
    double begun = 0;
    for (const OperationTime& t : times)
      if (std::string(t.kind) == "exchange") begun += t.end - t.begin;
    starting = std::min(starting, begun);
    return seconds;
  });
  time.starting_s = -slowest(comm, -starting);
  return time;
}

double seconds_lost(const Comm& comm, Plan& plan, int tries) {
  plan.record_times(true);
  Arrays arrays(comm, plan, nullptr);
  // Computes until `ended`. Seconds, and how many times.
  const auto computed = [](const auto& ended) {
    const double begin = seconds();
    int steps = 0;
    for (; !ended(); ++steps) compute();
    return std::pair(seconds() - begin, steps);
  };
  std::vector<double> lost;
  for (int i = 0; i < tries; ++i) {
    comm.barrier();
    plan.start_forward(static_cast<const void*>(arrays.in.data()), arrays.out.data());
    const auto [beside_s, beside] = computed([&] { return plan.test(); });
    double copying_s = 0;
    for (const OperationTime& t : plan.operation_times())
      if (std::string(t.kind) == "unpack") copying_s += t.end - t.begin;
    const double end = seconds() + slowest(comm, beside_s);
    const auto [alone_s, alone] = computed([&] { return seconds() >= end; });
    lost.push_back(beside_s - copying_s - beside * alone_s / std::max(alone, 1));
  }
  return std::max(0.0, sum(comm, summarise(lost).median) / comm.size());
}

}  // namespace weft::bench
