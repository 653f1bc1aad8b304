// The operator of random problems with one between two transforms (Problem::between), and what comes of it.
#pragma once

#include <vector>

#include "support/reference.hpp"
#include "weft/block.hpp"

namespace weft::test {

/// What it multiplies an element by, by global index: from 1 to 2, equal for the modes k and -k.
double between_factor(const Problem& problem, const Shape& index);

/// Result r is so many times a field, of so many.
inline Index field_of(Index result, Index fields) {
  return (result + 1) % fields;
}
inline long double weight_of(Index result) {
  return static_cast<long double>(1 + result);
}

/// What an array becomes, but for the weight and the scale factors.
std::vector<Exact> exact_between(const Problem& problem, const std::vector<Exact>& values);

/// The operator.
class BetweenOperator {
 public:
  explicit BetweenOperator(const Problem& problem) : problem_(problem) {}
  void operator()(const Block& block) const;

 private:
  const Problem& problem_;
};

}  // namespace weft::test
