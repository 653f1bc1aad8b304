// What cuFFT asks of a call with the advanced layout; what the double of the device seam asks, too.
#pragma once

#include <string>

#include "fft/embedded.hpp"

namespace weft::test {

/// Why cuFFT would refuse the call, or nothing.
std::string refused(const EmbeddedCall& call);

}  // namespace weft::test
