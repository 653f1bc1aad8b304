// What an execution of a local transform is given besides its arrays.
#pragma once

#include <cstddef>

#include "weft/block.hpp"

namespace weft {

struct FftContext {
  BlockOperator op = {};          ///< between a transform and its inverse (`Problem::between`), perhaps none
  Shape at = Shape(max_axes, 0);  ///< the global index where the call begins
  std::byte* diverted = nullptr;  ///< where modes go that are stored elsewhere (`FftProblem::diverted_count`)
};

}  // namespace weft
