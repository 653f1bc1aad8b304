// Parameters of pipelines, drawn at random among those that are feasible.
#pragma once

#include <cstdint>

#include "program/pipeline.hpp"

namespace weft::test {

/// Some of the parameters of `pipeline`, for all reshapes alike or for each its own, feasible for all of
/// `schedules`, which are forward or backward of one and the same problem.
PipelineParameters random_parameters(std::uint64_t seed, const Pipeline& pipeline,
                                     const std::vector<Schedule>& schedules);

}  // namespace weft::test
