// How options become choices of the planner.
#pragma once

#include "program/pipeline.hpp"
#include "weft/options.hpp"

namespace weft {

struct PipelineChoice {
  const Pipeline* pipeline;
  PipelineParameters values;
};

/// The pipeline and its parameters. With "auto": windowed where the exchange can run behind computation
/// (`overlaps`) or where one of its parameters is set, else sequential. A variable sets a parameter only of a
/// pipeline that has it; an option set in the program for a pipeline that lacks it is an error later on.
PipelineChoice choose_pipeline_option(const Options& options, bool overlaps);

}  // namespace weft
