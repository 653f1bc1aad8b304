// The pipelines: how the tiles of the stages around a reshape follow each other in time. Each is one row of a
// table and declares its own parameters; options, printing and tuning know nothing else about them. A
// pipeline turns a reshape of a schedule into a choice (which axis is cut, how thick, how many tiles are in
// flight), the same on all ranks; the builder makes each rank's operations of it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "program/program.hpp"

namespace weft {

struct PipelineParameter {
  const char* name;
  const char* meaning;
  Index least, most, standard;
};

using PipelineParameters = std::map<std::string, Index>;

struct Pipeline {
  const char* name;
  const char* meaning;
  std::span<const PipelineParameter> parameters;
  /// Fills axis, tile, window and reason for reshape number `reshape` of `schedule`.
  void (*choose)(const Schedule& schedule, int reshape, const PipelineParameters& values,
                 ReshapeChoice& choice);
  bool direct_only = false;  ///< needs exchanges that carry directly
};

std::span<const Pipeline> pipeline_table();

/// The named pipeline. Throws `weft::Error` that lists the names if there is none.
const Pipeline& find_pipeline(const std::string& name);

/// Choices for all reshapes. Values outside a parameter's range, or of parameters that the pipeline does not
/// have, throw `weft::Error`.
std::vector<ReshapeChoice> choose_pipeline(const Schedule& schedule, const Pipeline& pipeline,
                                           const PipelineParameters& values);

/// Positions of the reshapes among the stages.
std::vector<int> reshape_stages(const Schedule& schedule);

}  // namespace weft
