#include "support/device_problem.hpp"

#include <algorithm>

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

RandomProblem make_device_problem(std::uint64_t seed, int ranks, const std::vector<std::string>& exchanges) {
  for (std::uint64_t other = seed;; other += 100000) {
    RandomProblem p = make_random_problem(other, ranks, false);
    const std::string pipeline = p.options.get("pipeline");
    const bool r2r = std::any_of(p.problem.transforms.begin(), p.problem.transforms.end(), is_r2r);
    if (r2r || p.options.get("fft") != "auto") continue;
    p.problem.memory = MemoryKind::cuda;
    p.options = without(p.options, {"subtile", "front", "rest"});
    if (pipeline == "two-front") p.options.set("pipeline", "planes");
    p.options.set("threads", 1);
    p.graph = seed % 4 == 0 ? "off" : seed % 4 == 1 ? "auto" : "on";
    p.misaligned = false;
    p.node_ranks = 0;
    p.exchanges = exchanges;
    if (p.user_workspace) std::erase(p.exchanges, "direct");
    return p;
  }
}

}  // namespace weft::test
