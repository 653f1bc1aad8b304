#include "comm/clock.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/timing.hpp"
#include "comm/agree.hpp"

namespace weft {

double clock_ahead(CommImpl& comm) {
  if (!several_nodes(comm)) return 0;
  constexpr int tries = 21;
  const std::vector<int>& nodes = comm.nodes();
  const auto first = static_cast<std::size_t>(
      std::find(nodes.begin(), nodes.end(), nodes[static_cast<std::size_t>(comm.rank())]) - nodes.begin());
  std::array<double, tries> ahead{};
  std::vector<double> all;
  agree(comm, "plan", [&] { all.resize(nodes.size()); });
  for (double& a : ahead) {
    comm.barrier();
    const double mine = seconds_now();
    comm.allgather(&mine, sizeof mine, all.data());
    a = all[first] - all[0];
  }
  std::sort(ahead.begin(), ahead.end());
  return ahead[tries / 2];
}

}  // namespace weft
