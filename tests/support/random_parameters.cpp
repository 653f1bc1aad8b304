#include "support/random_parameters.hpp"

#include <algorithm>
#include <random>

namespace weft::test {

namespace {

/// The largest feasible value in every reshape, in the order of forward; -1 where there is no such parameter.
std::vector<Index> limits(const std::string& name, const Pipeline& pipeline, const PipelineParameters& values,
                          const std::vector<Schedule>& schedules) {
  std::vector<Index> most;
  for (const Schedule& s : schedules) {
    std::vector<Leg> choices = choose_pipeline(s, pipeline, values);
    if (s.mirrored) std::reverse(choices.begin(), choices.end());
    most.resize(choices.size(), -1);
    for (std::size_t j = 0; j < choices.size(); ++j)
      for (const ChosenParameter& p : choices[j].parameters)
        if (p.name == name) most[j] = most[j] < 0 ? p.most : std::min(most[j], p.most);
  }
  return most;
}

}  // namespace

PipelineParameters random_parameters(std::uint64_t seed, const Pipeline& pipeline,
                                     const std::vector<Schedule>& schedules) {
  std::mt19937_64 random(seed * 0x9E3779B97F4A7C15u + 99);
  const auto range = [&](Index lo, Index hi) {
    return lo + static_cast<Index>(random() % static_cast<std::uint64_t>(hi - lo + 1));
  };
  PipelineParameters values;
  for (const PipelineParameter& p : pipeline.parameters) {
    if (range(0, 2) == 0) continue;
    const std::vector<Index> most = limits(p.name, pipeline, values, schedules);
    std::vector<Index> each;
    for (Index m : most) each.push_back(m < 0 ? p.least : range(p.least, std::min<Index>(m, p.least + 9)));
    if (each.empty()) continue;
    if (range(0, 1) == 0) {
      values.emplace(p.name, each);
    } else {
      values.emplace(p.name, *std::min_element(each.begin(), each.end()));
    }
  }
  return values;
}

}  // namespace weft::test
