// What cuFFT asks of a call with the advanced layout; what the double of the device seam asks, too.
#pragma once

#include <string>

#include "fft/calls/fft_calls.hpp"

namespace weft::test {

/// Why cuFFT would refuse the call, or nothing.
std::string refused(const FftCall& call);

}  // namespace weft::test
