// An embedded call as a few smaller ones, where its work area would be large. Libraries ask for as much as a
// call transforms, which of a large array would be a third of the device's memory; parts of the batch, one
// after the other, share an area of the size of one.
#pragma once

#include <memory>

#include "fft/embedded_fft.hpp"

namespace weft {

/// A plan for the call whose work area has at most `most_work` bytes, if a single item of the batch, or, of
/// real lines, two, need no more than that.
std::shared_ptr<EmbeddedPlan> plan_in_parts(const EmbeddedCall& call, const MakeEmbeddedPlan& make,
                                            std::size_t most_work);

}  // namespace weft
