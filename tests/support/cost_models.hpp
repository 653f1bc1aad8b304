// Made-up execution times for the ten parameters of the overlap paper (Song and Hollingsworth 2014, table 1),
// to try searches on: a model of its algorithm 1 on several machines, and shapes that no machine explains.
// All are functions of the point alone, and so is the noise laid over them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tune/search.hpp"

namespace weft::test {

struct CostModel {
  std::string name;
  std::vector<Dimension> dimensions;  ///< T, W, Px, Pz, Uy, Uz, Fy, Fp, Fu, Fx
  Point start;                        ///< the paper's default point
  Score cost;                         ///< infinity where a sub-tile is thicker than its tile
};

/// Computation overlapped with communication, for slow and fast networks, costly tests, caches and rank
/// counts.
std::vector<CostModel> overlap_models();

/// 1 + a form of the distance from a random optimum: `kind` 0 a sum of squares, 1 squares of sums of
/// neighbours, 2 three dimensions that matter and seven that hardly do, 3 mostly the largest distance.
CostModel shape_model(int kind, std::uint64_t seed);

/// `cost`, each point times a factor of its own of about e^(+-strength).
Score noisy(Score cost, double strength, std::uint64_t seed);

}  // namespace weft::test
