// A reshape without any FFT, from slabs to slabs: what an exchange costs by itself.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "clock.hpp"
#include "device/device.hpp"
#include "weft/plan.hpp"

namespace weft::bench {

/// What carries it, and how.
struct ExchangedBy {
  std::string exchange = "auto", rails = "auto";  ///< as the options of these names
  Index planes = 1;  ///< of every rank; several are sent one after the other, each as soon as it is packed
};

/// A plan of it. Every rank holds about `bytes`, and gives every other rank its share. Collective.
Plan exchange_alone(const Comm& comm, std::size_t bytes, bool on_device, const ExchangedBy& by = {});

/// Seconds of the operations that carry data, the best of all tries. On streams, which do several at the same
/// time, and of several planes, which are packed between, from the first to the last.
struct ExchangeTime {
  double slowest_s = 0;   ///< of the slowest rank
  double starting_s = 0;  ///< the least that any rank took to start its parts
};
/// Collective.
ExchangeTime exchange_time(const Comm& comm, Plan& plan, const std::shared_ptr<Device>& device, int tries);

/// Seconds that a rank which computes while an exchange is under way loses to it, beside copying what has
/// arrived: what the processor does for messages, whoever does it. The median of the tries, on average of all
/// ranks, which compute all at once. Collective.
double seconds_lost(const Comm& comm, Plan& plan, int tries);

/// The best of all tries of the slowest rank, in seconds. `attempt` returns those of this rank. Collective.
template <class Try>
double best_time(const Comm& comm, int tries, const Try& attempt) {
  double best = 0;
  for (int i = 0; i < tries; ++i) {
    start_together(comm);
    const double time = slowest(comm, attempt());
    best = i == 0 ? time : std::min(best, time);
  }
  return best;
}

}  // namespace weft::bench
