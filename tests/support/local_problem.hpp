// Random local transforms, of any layout that FftProblem can describe, and what they must give: for the tests
// of the back ends against the direct sum and against each other.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "fft/local_fft.hpp"
#include "support/reference.hpp"

namespace weft::test {

/// A problem with data. Logical arrays are in C order, loops before dimensions.
struct LocalProblem {
  FftProblem fft;
  std::vector<Exact> input, expected;  ///< logical: as stored on their sides, halves being halves
};

/// Of kind c2c or real: up to four dimensions (rarely seven) and three loops, padded and permuted at random,
/// in place if `fft.in_place`, which then has a layout that serves in place.
LocalProblem random_local_problem(std::mt19937_64& random);

/// The same of kind r2r.
LocalProblem random_r2r_problem(std::mt19937_64& random);

/// DCTs and DSTs of types II and III of 16 to 64 points, some by trials. In place both sides' strides are
/// equal.
LocalProblem random_cosines_problem(std::mt19937_64& random);

/// A problem with random data.
LocalProblem with_values(const FftProblem& fft, std::mt19937_64& random);

/// The same of kind c2c or real, with data that are products of values along each axis, as are
/// their transforms: large problems do not take long.
LocalProblem with_products(const FftProblem& fft, std::mt19937_64& random);

/// What the memory of both sides looks like after a back end computed the problem.
struct LocalResult {
  double error = 0;           ///< relative, L2
  bool input_kept = true;     ///< the input's memory is as before
  bool gaps_kept = true;      ///< of the output's memory only the elements of the output were written
  std::vector<Exact> output;  ///< logical
};
LocalResult compute(const LocalFft& plan, const LocalProblem& problem);

/// The largest error that a back end may have.
double local_bound(const LocalProblem& problem);

}  // namespace weft::test
