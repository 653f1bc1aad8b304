// The settings of the command line: a problem, the options of its plan, and how to measure.
#pragma once

#include <string>
#include <vector>

#include "weft/options.hpp"
#include "weft/problem.hpp"

namespace weft::bench {

#ifdef WEFT_WITH_MPI
inline constexpr const char* usual_ranks = "mpi";
#else
inline constexpr const char* usual_ranks = "threads:2";
#endif

struct Case {
  std::string shape = "128,128,128", transform = "c2c", precision = "double", input = "slab",
              output = "transposed", direction = "forward", data = "random", device = "host",
              comm = usual_ranks, transport, json, trace;
  std::string modes, points;  ///< lengths as those of the shape; empty: all
  std::string line;           ///< two axes, "0,1"; empty: none
  std::string between = "none";
  std::string measure_machine;  ///< file for one; nothing else is done then
  std::vector<std::string> peers;
  Index batch = 1;
  Index results = 0;  ///< arrays that an operator leaves; 0: as many as the batch has
  int repeat = 20;
  bool series = false;  ///< all executions one after another, none of them untimed
  bool in_place = false, explain = false;
  Options options;

  /// Throws `weft::Error` for unknown words.
  Problem problem() const;
  /// If `line` is one number, of points, makes a shape of two axes of it. Throws `weft::Error` if there is a
  /// shape already.
  void expand_line(bool has_shape);
  /// Throws `weft::Error` for a device of which this build knows nothing. What is only predicted needs none.
  void check_device() const;
  bool forward() const { return direction != "backward"; }
  bool backward() const { return direction != "forward"; }
};

/// The customary count of flops: 5 N log2 N for complex data, half of it for real data, for each array of a
/// batch and each index of axes that are not transformed. N is the number of points of the transformed axes,
/// also where points or modes are cut. With something between an execution is two transforms, the second one
/// of the results.
double customary_flops(const Problem& problem);

}  // namespace weft::bench
