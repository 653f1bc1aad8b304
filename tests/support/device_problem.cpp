#include "support/device_problem.hpp"

#include <algorithm>

namespace weft::test {

RandomProblem make_device_problem(std::uint64_t seed, int ranks, const std::vector<std::string>& exchanges) {
  for (std::uint64_t other = seed;; other += 100000) {
    RandomProblem p = make_random_problem(other, ranks, false);
    const std::string pipeline = p.options.get("pipeline");
    const bool r2r = std::any_of(p.problem.transforms.begin(), p.problem.transforms.end(), is_r2r);
    if (r2r || pipeline == "planes" || pipeline == "two-front" || p.options.get("fft") != "auto") continue;
    p.problem.memory = MemoryKind::cuda;
    p.options.set("threads", 1);
    p.misaligned = false;
    p.node_ranks = 0;
    p.exchanges = exchanges;
    if (p.user_workspace) std::erase(p.exchanges, "direct");
    return p;
  }
}

}  // namespace weft::test
