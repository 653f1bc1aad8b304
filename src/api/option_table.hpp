// How options become choices of the planner.
#pragma once

#include "program/pipeline.hpp"
#include "weft/options.hpp"

namespace weft {

struct PipelineChoice {
  const Pipeline* pipeline;
  PipelineParameters values;
};

/// The pipeline and its parameters. With "auto": `preferred`, or, if parameters are set that it does not
/// have, in the program or the environment, the first one worth trying that has them all. With a pipeline
/// that lacks a parameter, a variable for it is not looked at, and an option set in the program is an error
/// later on.
PipelineChoice choose_pipeline_option(const Options& options, const char* preferred);

}  // namespace weft
