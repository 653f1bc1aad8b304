// Times by which candidates are compared.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace weft {

/// The time in seconds on a clock that is never set back; only differences have a meaning.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// For each of `count` candidates the median of `rounds` times. `time(i)` executes candidate i and returns
/// its seconds. The candidates take turns, so that a disturbance affects all of them.
template <class Time>
std::vector<double> medians_in_turn(std::size_t count, int rounds, const Time& time) {
  std::vector<std::vector<double>> times(count);
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < count; ++i) times[i].push_back(time(i));
  std::vector<double> medians;
  for (std::vector<double>& t : times) {
    std::sort(t.begin(), t.end());
    medians.push_back(t[t.size() / 2]);
  }
  return medians;
}

}  // namespace weft
