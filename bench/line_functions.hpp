// Functions along a line (Problem::line) whose transform is known at each mode: a complex exponential, of
// which one mode alone is not zero (of a real line a cosine, of which two are not), and a short run of ones,
// of which none is small. Nothing is stored that grows as the line does, but tables of roots of unity as its
// square root.
#pragma once

#include <complex>
#include <random>
#include <vector>

#include "weft/problem.hpp"

namespace weft::bench {

class LineFunctions {
 public:
  /// So many functions along the line of a problem. Smooth ones have few periods, and no run.
  LineFunctions(const Problem& problem, int functions, bool smooth, std::mt19937& random);

  Index length() const { return n_; }
  /// The value of a function at a point of the array.
  std::complex<double> point(int function, const Shape& at) const;
  /// That of its unscaled transform at a mode.
  std::complex<double> mode(int function, const Shape& at) const;

 private:
  using Exact = std::complex<long double>;
  struct Function {
    Index periods = 0;           ///< of the exponential, whose values have the size one
    Index first = 0, count = 0;  ///< points of the run
    double height = 0;           ///< of the run, so that both have about the same norm
  };

  Exact root(Index p) const;

  int a_, b_;
  bool real_;
  Index na_, nb_, n_;
  std::vector<Function> functions_;
  std::vector<Exact> high_, low_;  ///< exp(-2 pi i p/n), for the multiples of the size of `low_` and below it
};

}  // namespace weft::bench
