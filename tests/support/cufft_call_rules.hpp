// What cuFFT asks of a call with the advanced layout; what the double of the device seam asks, too.
#pragma once

#include <string>

#include "fft/calls/cufft_calls.hpp"

namespace weft::test {

/// Why cuFFT would refuse the call, or do something else; or nothing.
std::string refused(const CufftCall& call);

}  // namespace weft::test
