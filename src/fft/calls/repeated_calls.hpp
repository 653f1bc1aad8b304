// One call of the library as several: a call whose work area would be large as smaller calls, and a step as
// its calls, one for every index of its loops. cuFFT's work areas are as large as the data of a call, which
// for a large array is a third of the device's memory. Parts of the batch, done one after the other, share a
// smaller area.
#pragma once

#include <memory>

#include "fft/calls/fft_sequence.hpp"

namespace weft {

/// A plan for the call with a work area of at most `most_work` bytes, or that of the smallest part: one item
/// of the batch, or two for real transforms.
std::shared_ptr<StreamFft> plan_in_parts(const CufftCall& call, const MakeCallPlan& make,
                                         std::size_t most_work);

/// Makes a plan for a step from a plan for its call.
std::shared_ptr<StreamFft> plan_in_loops(const CallStep& step, std::shared_ptr<StreamFft> call);

}  // namespace weft
