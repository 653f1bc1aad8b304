// What users get wrong. Each case makes or executes a plan on one rank of many and has to end in the same
// clear error on every rank, whatever the medium.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "weft/comm.hpp"
#include "weft/problem.hpp"

namespace weft::test {

struct BadInput {
  std::string name;
  std::string message;  ///< what the error says
  int least_ranks = 1;
  std::function<void(const Comm&)> run;
};

const std::vector<BadInput>& bad_inputs();

/// Those of them whose plan is good and whose execution is not.
std::vector<BadInput> bad_executions();

/// A good problem: c2c of 12 x 12 x 12 points, slabs along axis 0 to slabs along axis 1.
Problem small_cube();

}  // namespace weft::test
