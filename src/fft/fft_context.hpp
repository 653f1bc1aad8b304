// What an execution of a local transform is given besides its arrays.
#pragma once

#include <cstddef>
#include <span>

#include "weft/block.hpp"

namespace weft {

struct DeviceSignals;

struct FftContext {
  BlockOperator op = {};          ///< between a transform and its inverse (`Problem::between`), perhaps none
  Shape at = Shape(max_axes, 0);  ///< the global index where the call begins
  /// Where modes go that are stored elsewhere, for each piece of `FftProblem::diverted`.
  std::span<std::byte* const> diverted = {};
  /// On devices: what is signalled when these are stored; or null. Only where modes are stored elsewhere.
  const DeviceSignals* signals = nullptr;
};

}  // namespace weft
