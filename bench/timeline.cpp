#include "timeline.hpp"

#include <algorithm>
#include <limits>

#include "clock.hpp"

namespace weft::bench {

namespace {

/// Sent as numbers; kinds by their place in the table.
struct Flat {
  int kind, stage, reshape, tile, stream;
  double begin, end;
  Index bytes, memory_read, memory_written;
};

/// How far the clock of this rank's machine is ahead of that of rank 0's, by when their first ranks leave a
/// barrier; 0 on the machine of rank 0. The error is what leaving a barrier takes: microseconds.
double clock_ahead(const Comm& comm) {
  constexpr int tries = 21;
  const std::vector<int>& nodes = comm.impl().nodes();
  const auto first = static_cast<std::size_t>(
      std::find(nodes.begin(), nodes.end(), nodes[static_cast<std::size_t>(comm.rank())]) - nodes.begin());
  std::vector<double> ahead;
  for (int i = 0; i < tries; ++i) {
    comm.barrier();
    const std::vector<double> all = all_of(comm, seconds());
    ahead.push_back(all[first] - all[0]);
  }
  return summarise(ahead).median;
}

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

std::vector<std::vector<OperationTime>> gather_timeline(const Comm& comm,
                                                        const std::vector<OperationTime>& mine) {
  const double ahead = clock_ahead(comm);
  std::vector<Flat> flat;
  for (const OperationTime& t : mine)
    flat.push_back({static_cast<int>(number_of(t.kind)), t.stage, t.reshape, t.tile, t.stream,
                    t.begin - ahead, t.end - ahead, t.bytes, t.memory_read, t.memory_written});
  const std::vector<double> counts = all_of(comm, static_cast<double>(flat.size()));
  const auto most = static_cast<std::size_t>(*std::max_element(counts.begin(), counts.end()));
  flat.resize(most);
  std::vector<Flat> all(most * counts.size());
  if (most > 0) comm.impl().allgather(flat.data(), most * sizeof(Flat), all.data());
  double zero = std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < counts.size(); ++r)
    for (std::size_t i = 0; i < static_cast<std::size_t>(counts[r]); ++i)
      zero = std::min(zero, all[r * most + i].begin);
  std::vector<std::vector<OperationTime>> timeline(counts.size());
  for (std::size_t r = 0; r < counts.size(); ++r)
    for (std::size_t i = 0; i < static_cast<std::size_t>(counts[r]); ++i) {
      const Flat& f = all[r * most + i];
      timeline[r].push_back({operation_kinds()[static_cast<std::size_t>(f.kind)].c_str(), f.stage, f.reshape,
                             f.tile, f.begin - zero, f.end - zero, f.bytes, f.memory_read, f.memory_written,
                             f.stream});
    }
  return timeline;
}

}  // namespace weft::bench
