// Random problems: shapes, transforms, boxes, memory orders, halos and strides, batches, scales, pipelines,
// exchanges, threads, precisions, in and out of place, by call and by handle. A problem is a function of its
// seed and the number of ranks; a failure prints both.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "schedule/planner.hpp"
#include "support/reference.hpp"
#include "weft/comm.hpp"
#include "weft/options.hpp"
#include "weft/problem.hpp"

namespace weft::test {

struct RandomProblem {
  std::uint64_t seed = 0;
  int ranks = 1;
  Problem problem;                                 ///< without the distributions of single ranks
  std::vector<Box> input_boxes, output_boxes;      ///< empty: a named distribution in `problem`
  std::vector<Order> input_orders, output_orders;  ///< one per rank
  /// How the array of one rank lies in memory.
  struct Memory {
    enum class Kind { dense, halo, strides, interleaved, r2c_padding } kind = Kind::dense;
    Shape lower, upper;
    std::vector<Index> gaps;
  };
  std::array<std::vector<Memory>, 2> memories;   ///< before and after forward, one per rank
  bool order_free = false;                       ///< a side that is `fastest` may lie in any order
  bool own_box_only = false;                     ///< each rank gives its own box instead of the list
  std::vector<std::vector<ModeColumn>> columns;  ///< of all ranks; empty: modes are in boxes
  Options options;
  std::vector<std::string> exchanges;  ///< run with each of them; results must be bitwise equal
  bool user_workspace = false, misaligned = false, delays = false, by_handle = false;
  Index block_bytes = 0;               ///< `TestHook::block_bytes`
  std::string graph = "auto";          ///< of exchanges that can be captured
  std::string puts = "auto";           ///< of a direct exchange between devices
  int node_ranks = 0;                  ///< `pretended_ranks_per_node`; 0: all share a machine
  int reach = 0;                       ///< of consecutive devices, those that reach each other; 0: all
  bool far_pairs = false;              ///< a direct exchange leaves pairs of ranks to messages
  int repeats = 2;                     ///< executions in each direction
  bool online = false;                 ///< which need not be by the same plan
  bool small_cache = false;            ///< so that all arrays are too large for it
  std::vector<Exact> values, exact;    ///< whole arrays in C order, of the first array of a batch
  std::vector<Exact> returned;         ///< what backward makes of `exact`, but for the scale factor
  std::array<double, 2> bounds{0, 0};  ///< of the relative error, by direction

  std::string describe() const;
  /// What the planner of schedules is asked. A named distribution is the planner's, or `tiled_instead`:
  /// random boxes.
  ScheduleRequest request(bool tiled_instead = false) const;
  /// The problem as `rank` gives it.
  Problem of(int rank) const;
};

RandomProblem make_random_problem(std::uint64_t seed, int ranks, bool mpi);
/// A problem whose modes are given by columns.
RandomProblem make_columns_problem(std::uint64_t seed, int ranks, bool mpi);
/// A problem whose ranks transform one array together, where that can be done.
RandomProblem make_shared_problem(std::uint64_t seed, int ranks, bool mpi);
/// The same problem with codecs, one for all reshapes or one for each, and an exchange that carries them.
void draw_codecs(RandomProblem& p, bool libraries);
/// Lets another exchange carry the problem as well, ucx, with parameters of its own; half of the times over
/// the network devices `rails`, if there are any, with each rank on a machine of its own.
void draw_rails(RandomProblem& p, const std::string& rails);
RandomProblem make_coded_problem(std::uint64_t seed, int ranks, bool mpi);

/// Runs forward and backward on the calling rank, on machines of as many ranks as drawn, and compares with
/// the exact result. Collective. Throws std::runtime_error that describes the problem if anything is wrong.
void run_random_problem(const Comm& comm, const RandomProblem& problem);

/// Random boxes that tile `shape`, one per rank, some of them perhaps empty.
std::vector<Box> random_tiling(std::uint64_t seed, const Shape& shape, int ranks);

/// WEFT_TEST_PROBLEMS, or `standard`; a part of it under sanitizers, which make problems several times as
/// slow, and in the build for a second MPI library.
int problem_count(int standard);
/// WEFT_TEST_SEED, or 1.
std::uint64_t first_seed();

}  // namespace weft::test
