#include "support/device_problem.hpp"

#include <algorithm>

#include "support/devices.hpp"

namespace weft::test {

namespace {
Options without(const Options& options, const std::vector<std::string>& names) {
  Options kept;
  for (const auto& [name, value] : options.all())
    if (!value.empty() && std::find(names.begin(), names.end(), name) == names.end()) kept.set(name, value);
  return kept;
}
}  // namespace

Problem on_device() {
  Problem p;
  p.shape = {16, 12, 8};
  p.memory = MemoryKind::cuda;
  return p;
}

void draw_far_pairs(RandomProblem& p) {
  if (p.ranks < 3) return;
  const int some = 2 + static_cast<int>(p.seed / 4 % static_cast<std::uint64_t>(p.ranks - 2));
  if (p.seed % 4 == 1 || p.seed % 4 == 3) p.reach = ScopedDevices::reach_of(some);
  if (p.seed % 4 == 2 || p.seed % 8 == 3) p.node_ranks = some;
  p.far_pairs = p.reach > 0 || p.node_ranks > 0;
}

RandomProblem make_device_problem(std::uint64_t seed, int ranks, const std::vector<std::string>& exchanges,
                                  bool columns) {
  for (std::uint64_t other = seed;; other += 100000) {
    RandomProblem p =
        columns ? make_columns_problem(other, ranks, false) : make_random_problem(other, ranks, false);
    if (p.options.get("fft") != "auto") continue;
    p.problem.memory = MemoryKind::cuda;
    p.options = without(p.options, {"subtile"});
    p.options.set("threads", 1);
    p.graph = seed % 4 == 0 ? "off" : seed % 4 == 1 || p.problem.between != Between::none ? "auto" : "on";
    p.puts = seed / 3 % 3 == 0 ? "engine" : seed / 3 % 3 == 1 ? "kernel" : "auto";
    p.misaligned = false;
    p.node_ranks = 0;
    p.far_pairs = false;
    p.exchanges = exchanges;
    if (p.user_workspace)
      std::erase_if(p.exchanges, [](const std::string& e) {
        return e == "direct" || e == "ring" || e.find("nvshmem") != std::string::npos;
      });
    return p;
  }
}

}  // namespace weft::test
