// What comes between a transform and its inverse in one call of a local transform (`Problem::between`).
#pragma once

#include "weft/block.hpp"

namespace weft {

struct Middle {
  BlockOperator op = {};          ///< perhaps none
  Shape at = Shape(max_axes, 0);  ///< the global index where the call begins
};

}  // namespace weft
