// Lines that kernels of Weft transform in device memory, against the direct sum.
#pragma once

#include <cstddef>
#include <memory>
#include <random>

#include "fft/calls/run_calls.hpp"
#include "fft/local_fft.hpp"

namespace weft::test {

/// A library that must not be called.
std::shared_ptr<StreamFft> no_calls(const CufftCall& call);

/// Computes lines of one axis by a way alone. Looks at errors and at gaps; with LineWay::passes, in so much
/// memory at most. Data of long lines are products
/// (`with_products`).
void expect_exact_lines(const FftProblem& p, LineWay way, std::mt19937_64& random,
                        std::size_t most_work = std::size_t{1} << 30);

}  // namespace weft::test
