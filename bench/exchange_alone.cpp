#include "exchange_alone.hpp"

#include <algorithm>
#include <complex>

#include "array.hpp"
#include "clock.hpp"
#include "comm/agree.hpp"

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
  constexpr std::size_t complex = sizeof(std::complex<double>);
  Array in, out;
  agree(comm.impl(), "weft-bench", [&] {
    const char* const what = "an array that is exchanged to measure how fast ranks send";
    in = Array(plan.input_count() * complex, device, what);
    out = Array(plan.output_count() * complex, device, what);
  });
  double starting = 1e300;
  ExchangeTime time;
  time.slowest_s = best_time(comm, tries, [&] {
    plan.forward(static_cast<const void*>(in.data()), out.data());
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

}  // namespace weft::bench
