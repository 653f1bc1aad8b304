// What carries a random problem, where tests ask for more than the exchanges that it was drawn with: codecs,
// networks.
#include <algorithm>
#include <string>
#include <vector>

#include "base/arithmetic.hpp"
#include "base/text.hpp"
#include "kernels/cpu/zfp.hpp"
#include "support/dice.hpp"
#include "support/random_problem.hpp"

namespace weft::test {

void draw_codecs(RandomProblem& p, bool libraries) {
  Dice dice(p.seed + 77);
  std::vector<std::string> wide{"fp32", "fp16", "bf16", "trim:4", "trim:11", "trim:20", "trim:33", "trim:51"},
      narrow{"fp16", "bf16", "trim:4", "trim:7", "trim:15"};
  if (libraries && zfp::missing().empty()) {
    wide.insert(wide.end(), {"zfp:13", "zfp:40", "zfp-accuracy:9", "zfp-accuracy:40"});
    narrow.insert(narrow.end(), {"zfp:11", "zfp:24", "zfp-accuracy:6", "zfp-accuracy:17"});
  }
  const std::vector<std::string>& names = p.problem.precision == Precision::float64 ? wide : narrow;
  const std::size_t reshapes = reshape_stages(make_schedule(p.request())).size();
  std::vector<std::string> codecs(dice.chance(0.5) ? 1 : std::max<std::size_t>(1, reshapes));
  for (std::string& codec : codecs)
    codec = dice.chance(0.15) ? "none" : at(names, dice.range(0, static_cast<int>(names.size()) - 1));
  p.options.set("codec", join(codecs, ","));
}

void draw_rails(RandomProblem& p, const std::string& rails) {
  Dice dice(p.seed + 99);
  p.exchanges.front() = "ucx";
  p.options.set("chunk", dice.pick({"auto", "1024", "1600", "5000"}));
  p.options.set("inflight", dice.range(1, 5));
  p.options.set("barrier", dice.pick({"on", "off", "2"}));
  p.options.set("rebalance", dice.pick({"1", "1.1", "off"}));
  p.options.set("one_sided", p.user_workspace ? dice.pick({"auto", "off"}) : dice.pick({"on", "on", "off"}));
  const auto has = [&](const char* name) { return p.exchanges.back().find(name) != std::string::npos; };
  if (!rails.empty() && p.ranks > 2 && has("node")) {
    p.exchanges = {"node_ucx"};
    p.options.set("rails", rails);
    return;
  }
  if (rails.empty() || has("direct") || has("node") || dice.chance(0.5)) return;
  p.options.set("rails", rails);
  p.node_ranks = 1;
}

RandomProblem make_coded_problem(std::uint64_t seed, int ranks, bool mpi) {
  RandomProblem p = make_random_problem(seed, ranks, mpi);
  draw_codecs(p, true);
  const bool varies = p.options.get("codec").find("zfp-accuracy") != std::string::npos;
  std::vector<std::string> carriers{mpi ? "p2p" : "copy"};
  if (!varies) {
    if (mpi) carriers = {"p2p", "alltoallv", "pairwise", "alltoall", "ialltoallv"};
    if (!p.user_workspace) carriers.insert(carriers.end(), {"direct", mpi ? "ring" : "direct"});
  }
  p.exchanges = {carriers[seed % carriers.size()]};
  if (!mpi && !varies && !p.user_workspace && reshape_stages(make_schedule(p.request())).size() == 2 &&
      seed % 4 == 0)
    p.exchanges = {seed % 8 == 0 ? "direct,copy" : "copy,direct"};
  p.node_ranks = 0;
  p.far_pairs = false;
  if (mpi && !varies && !p.user_workspace && ranks > 2 && seed % 4 == 1) {
    p.exchanges = {"node"};
    p.node_ranks = seed % 8 == 1 ? -2 : 2;
    p.far_pairs = true;
  }
  return p;
}

}  // namespace weft::test
