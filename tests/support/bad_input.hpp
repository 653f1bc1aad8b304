// What users get wrong. Each case makes or executes a plan on one rank of many and has to end in the same
// clear error on every rank, whatever the medium.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "weft/comm.hpp"

namespace weft::test {

struct BadInput {
  std::string name;
  std::string message;  ///< what the error says
  int least_ranks = 1;
  std::function<void(const Comm&)> run;
};

const std::vector<BadInput>& bad_inputs();

}  // namespace weft::test
