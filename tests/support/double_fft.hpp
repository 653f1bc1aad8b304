// FFTW in the place of cuFFT, for the double of the device seam.
#pragma once

#include "fft/local_fft.hpp"

namespace weft::test::device_double {

FftRow fft_row();

}  // namespace weft::test::device_double
