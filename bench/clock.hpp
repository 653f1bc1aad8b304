// Time, and sums and maxima over ranks.
#pragma once

#include <algorithm>
#include <chrono>
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
