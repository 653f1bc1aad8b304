// Time, and sums and maxima over ranks.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "comm/comm_impl.hpp"
#include "statistics.hpp"
#include "weft/comm.hpp"

namespace weft::bench {

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The values of all ranks. Collective.
inline std::vector<double> all_of(const Comm& comm, double mine) {
  std::vector<double> all(static_cast<std::size_t>(comm.size()));
  comm.impl().allgather(&mine, sizeof mine, all.data());
  return all;
}

/// A barrier from which the ranks return at the same moment, by the clock of their machine, if all are on one
/// and have one. MPI's own lets one of two ranks go up to 7 us after the other, for which the other would
/// wait in what is timed next. Collective.
inline void start_together(const Comm& comm) {
  comm.barrier();
  if (several_nodes(comm.impl())) return;
  constexpr double until_all_know = 50e-6, last_moment = 5e-6, of_one_clock = 1e-3;
  const std::vector<double> now = all_of(comm, seconds());
  const auto [first, last] = std::minmax_element(now.begin(), now.end());
  if (*last - *first > of_one_clock) return;  // containers may have clocks of their own
  const double start = *last + until_all_know;
  while (seconds() < start)
    if (start - seconds() > last_moment) std::this_thread::yield();  // where ranks share cores
}

/// The largest value of all ranks. Collective.
inline double slowest(const Comm& comm, double mine) {
  const std::vector<double> all = all_of(comm, mine);
  return *std::max_element(all.begin(), all.end());
}

inline double sum(const Comm& comm, double mine) {
  double total = 0;
  for (double v : all_of(comm, mine)) total += v;
  return total;
}

}  // namespace weft::bench
