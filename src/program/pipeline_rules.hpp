// What the rules of the pipelines share: how they read parameters, and cut an axis into tiles.
#pragma once

#include <optional>
#include <string>

#include "base/arithmetic.hpp"
#include "program/pipeline.hpp"

namespace weft {

class ParameterReader {
 public:
  /// `position`: of the reshape in the order of forward.
  ParameterReader(const PipelineParameters& values, const PipelineRules& rules, int position, Leg& leg)
      : values_(values), rules_(rules), position_(static_cast<std::size_t>(position)), leg_(leg) {}

  const PipelineRules& rules() const { return rules_; }

  /// What was asked for, or nothing.
  std::optional<Index> asked(const char* name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    const std::vector<Index>& all = found->second.values;
    return all.size() == 1 ? all[0] : all[position_];
  }

  /// The value of a parameter: as asked for, or what the rule says. `most` is what is feasible, and `why`.
  Index operator()(const char* name, Index rule, Index most, const std::string& why) {
    const std::optional<Index> wanted = asked(name);
    if (wanted && *wanted > most)
      throw Error(std::string("plan: option ") + name, std::to_string(*wanted),
                  "at most " + std::to_string(most) + ", " + why);
    const Index value = wanted.value_or(rule);
    leg_.parameters.push_back({name, value, wanted ? values_.at(name).origin : "rule", most});
    return value;
  }

 private:
  const PipelineParameters& values_;
  const PipelineRules& rules_;
  std::size_t position_;
  Leg& leg_;
};

Index largest_extent(const Tiling& tiling, int axis);
std::string extent_of(int axis);
void set_tiles(Leg& leg, Index tiles);
/// Tiles along an axis, as many as the rules say, but not thinner than `least`, unless asked for otherwise.
void cut(Leg& leg, ParameterReader& read, int axis, Index extent, Index least = 1);

/// Of a tile on devices: FFTs read its parts where they have arrived if there are at most so many (ADR 0072).
/// More FFTs cost more than one kernel that copies.
inline constexpr Index most_parts_read = 4;

// Rules and builders in files of their own. `build_local`: of schedules without reshapes.
void choose_windowed(const Schedule& s, int reshape, ParameterReader& read, Leg& leg);
void choose_th(const Schedule& s, int reshape, ParameterReader& read, Leg& leg);
void choose_planes(const Schedule& s, int reshape, ParameterReader& read, Leg& leg);
void choose_two_front(const Schedule& s, int reshape, ParameterReader& read, Leg& leg);
void choose_shared(const Schedule& s, int reshape, ParameterReader& read, Leg& leg);
Program build_shared(const Schedule& schedule, const std::vector<Leg>& legs, const ProgramRequest& request);
Program build_local(const Schedule& schedule, const std::vector<Leg>& legs, const ProgramRequest& request);
Program build_windowed(const Schedule& schedule, const std::vector<Leg>& legs, const ProgramRequest& request);
Program build_planes(const Schedule& schedule, const std::vector<Leg>& legs, const ProgramRequest& request);

}  // namespace weft
