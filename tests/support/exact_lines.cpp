#include "support/exact_lines.hpp"

#include <gtest/gtest.h>

#include <set>

#include "fft/calls/strided_lines.hpp"
#include "fft/calls/two_passes.hpp"
#include "support/local_problem.hpp"
#include "support/on_device.hpp"

namespace weft::test {

std::shared_ptr<StreamFft> no_calls(const CufftCall& call) {
  ADD_FAILURE() << to_string(call);
  return nullptr;
}

void expect_exact_lines(const FftProblem& p, LineWay way, std::mt19937_64& random, std::size_t most_work) {
  const OnDevice fft(p, [&](Device& device, const FftProblem& problem) {
    return make_fft_of_calls(
        device, problem, no_calls,
        {[&](const CallStep& step) {
           EXPECT_TRUE(way == LineWay::passes
                           ? passes_can(step)
                           : kernels_can(step) || kernels_can_rows(step) || kernels_can_real_rows(step));
           return way;
         },
         AxesOf::together, most_work});
  });
  const Index n = p.dimensions[0].n;
  EXPECT_EQ(fft.elsewise().by_kernels, std::set<Index>{n});
  constexpr Index long_line = 300;  // of whose direct sum n^2 terms for every line take long
  LocalProblem problem = n > long_line ? with_products(p, random) : with_values(p, random);
  // The imaginary parts of the first and of the last mode of real numbers do not count.
  if (p.kind == FftKind::real && p.direction == Direction::backward)
    for (std::size_t i = 0, row = static_cast<std::size_t>(n / 2); i < problem.input.size(); i += row + 1)
      problem.input[i] += Exact(0, 3), problem.input[i + row] -= Exact(0, 2);
  const LocalResult result = compute(fft, problem);
  ASSERT_LE(result.error, local_bound(problem)) << n << " points";
  ASSERT_TRUE(result.gaps_kept);
}

}  // namespace weft::test
