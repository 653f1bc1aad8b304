#include "model/fft_speeds.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "weft/error.hpp"

namespace weft {

namespace {

double bits_of(Index n) {
  return std::log2(static_cast<double>(std::max<Index>(n, 2)));
}

PointsLie shape_named(const std::string& name) {
  return name == fft_lines     ? PointsLie::lines
         : name == fft_columns ? PointsLie::columns
         : name == fft_middle  ? PointsLie::middle
                               : PointsLie::planes;
}

/// By length, as curves are made of.
struct MeasuredLines {
  std::map<Index, double> in_cache, in_memory, call;
};

Curve curve_of(const std::map<Index, double>& values) {
  std::vector<CurvePoint> list;
  for (const auto& [n, seconds] : values) list.push_back({static_cast<double>(n), seconds});
  return Curve(std::move(list));
}

}  // namespace

double FftSpeeds::Lines::in_cache_s(Index n) const {
  return in_cache.at(static_cast<double>(n)) * bits_of(n);
}

FftSpeeds::FftSpeeds(const ComputeDescription& compute, std::string library, int real_bytes) {
  const auto described = [&] {
    return std::any_of(compute.ffts.begin(), compute.ffts.end(),
                       [&](const FftSpeed& f) { return f.library == library && f.real_bytes == real_bytes; });
  };
  if (!described()) library = compute.ffts.front().library;
  if (!described())
    throw Error("model", "numbers of " + std::to_string(real_bytes) + " bytes",
                "a machine description with local FFTs of that precision");
  std::map<Kind, MeasuredLines> measured;
  for (const FftSpeed& f : compute.ffts) {
    if (f.library != library || f.real_bytes != real_bytes) continue;
    MeasuredLines& m = measured[kind_of(shape_named(f.shape), f.rows_meet, factors_of(f.length))];
    m.in_cache[f.length] = f.in_cache_s / bits_of(f.length);
    m.in_memory[f.length] = std::max(f.in_memory_s - f.in_cache_s, 1e-3 * f.in_cache_s);
    if (f.call_s > 0) m.call[f.length] = f.call_s;
  }
  for (const auto& [kind, m] : measured)
    lines_[kind] = {curve_of(m.in_cache), curve_of(m.in_memory), curve_of(m.call)};
}

FftSpeeds::Factors FftSpeeds::factors_of(Index n) {
  const auto without = [&n](std::initializer_list<Index> primes) {
    for (const Index p : primes)
      while (n % p == 0) n /= p;
    return n;
  };
  return without({2}) == 1           ? Factors::two
         : without({3, 5}) == 1      ? Factors::five
         : without({7, 11, 13}) == 1 ? Factors::thirteen
                                     : Factors::any;
}

const FftSpeeds::Lines& FftSpeeds::lines(PointsLie shape, bool rows_meet, Index n) const {
  for (const PointsLie which : {shape, PointsLie::columns, PointsLie::lines})
    for (const bool same : {rows_meet, !rows_meet})
      for (int f = static_cast<int>(factors_of(n)); f >= 0; --f)
        if (const auto found = lines_.find(kind_of(which, same, static_cast<Factors>(f)));
            found != lines_.end())
          return found->second;
  return lines_.begin()->second;
}

}  // namespace weft
