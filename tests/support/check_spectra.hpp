// Spectra by shell of the same field, transformed as real and as complex numbers, beside a sum over the whole
// spectrum that a single rank computes.
#pragma once

#include "weft/comm.hpp"

namespace weft::test {

/// Collective.
void check_spectra(const Comm& comm);

}  // namespace weft::test
