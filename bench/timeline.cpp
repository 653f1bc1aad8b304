#include "timeline.hpp"

#include <algorithm>
#include <limits>

#include "clock.hpp"
#include "comm/clock.hpp"

namespace weft::bench {

namespace {

/// Sent as numbers; kinds by their place in the table.
struct Flat {
  std::size_t kind;
  TracedOperation operation;
};

}  // namespace

const std::vector<std::string>& operation_kinds() {
  static const std::vector<std::string> kinds{"fft",  "copy",     "pack", "put",
                                              "keep", "exchange", "wait", "unpack"};
  return kinds;
}

std::size_t number_of(const std::string& kind) {
  const std::vector<std::string>& kinds = operation_kinds();
  return static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
}

std::vector<std::vector<TracedOperation>> gather_timeline(const Comm& comm,
                                                          const std::vector<TracedOperation>& mine) {
  const double ahead = clock_ahead(comm.impl());
  std::vector<Flat> flat;
  for (const TracedOperation& t : mine) {
    flat.push_back({number_of(t.kind), t});
    flat.back().operation.begin -= ahead;
    flat.back().operation.end -= ahead;
  }
  const std::vector<double> counts = all_of(comm, static_cast<double>(flat.size()));
  const auto most = static_cast<std::size_t>(*std::max_element(counts.begin(), counts.end()));
  flat.resize(most);
  std::vector<Flat> all(most * counts.size());
  if (most > 0) comm.impl().allgather(flat.data(), most * sizeof(Flat), all.data());
  double zero = std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < counts.size(); ++r)
    for (std::size_t i = 0; i < static_cast<std::size_t>(counts[r]); ++i)
      zero = std::min(zero, all[r * most + i].operation.begin);
  std::vector<std::vector<TracedOperation>> timeline(counts.size());
  for (std::size_t r = 0; r < counts.size(); ++r)
    for (std::size_t i = 0; i < static_cast<std::size_t>(counts[r]); ++i) {
      const Flat& f = all[r * most + i];
      TracedOperation t = f.operation;
      t.kind = operation_kinds()[f.kind].c_str();
      t.begin -= zero;
      t.end -= zero;
      timeline[r].push_back(t);
    }
  return timeline;
}

}  // namespace weft::bench
