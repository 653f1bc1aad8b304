// How a plan is to be made. Every option has a name; most can also be set through an environment variable of
// that name (WEFT_PIPELINE), and what the program sets beats the environment.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "weft/axis_vector.hpp"
#include "weft/export.hpp"

namespace weft {

/// Names and values of options; a plain value.
class WEFT_API Options {
 public:
  /// Sets an option by name; throws `weft::Error` for a name or a value that does not exist, listing those
  /// that do. The first value of each is the default.
  ///
  /// - `decomposition`: auto, slab, pencil, brick. Which grids may stand between input and output. auto takes
  ///   the fewest reshapes that keep the ranks busy, of slabs and pencils; brick is pencils with a grid cut
  ///   along three axes between every two of them: more reshapes, each among fewer ranks.
  /// - `grid`: auto, or two numbers whose product is the number of ranks, "2x4". Of pencils between input and
  ///   output: into how many parts they are cut along two axes, in whichever order fits those beside them;
  ///   with decomposition auto it means pencils. auto is near-square, as the user's own pencils are, or as
  ///   leaves no rank without points.
  /// - `shrink`: a number R. Only the first R ranks transform; the others hold points only where the input or
  ///   the output says so. Unset: all ranks.
  /// - `pipeline`: auto, sequential, th, windowed, planes, two-front. How exchange and local FFTs follow each
  ///   other in time; auto is two-front among several machines if the exchange does not block, planes on one
  ///   machine if it is direct, else sequential; another one if parameters are set that only it has.
  ///   two-front is planes with a front of columns that travels with the planes and is transformed while the
  ///   rest follows. windowed and th are NEW and TH of "Designing and auto-tuning parallel 3-D FFT for
  ///   computation-communication overlap".
  /// - `overlap`: on, off. off waits for each tile before anything else is done: what overlap is worth.
  /// - Parameters of pipelines; unset, a rule decides. One value serves all reshapes, or "16,8" is one for
  ///   each, in the order of forward. What is not feasible (a tile thicker than the axis) is an error.
  /// - `tile`: of pipelines th, windowed, planes and two-front: thickness of a tile (0: an eighth of the
  ///   axis).
  /// - `items`: of pipelines th and windowed: items of a batch in a tile. With 1, `tile` cuts each item;
  ///   groups of several are not cut further. 0: an eighth of the batch, or 1 if `tile` is set.
  /// - `window`: of pipelines th and windowed: tiles in flight.
  /// - `px`, `pz`, `uy`, `uz`: of pipeline windowed: thickness, across a tile (px, uy) and along the axis
  ///   that tiles cut (pz, uz), of the parts that are transformed and packed together, while they are in the
  ///   cache (p), and unpacked and transformed together (u). 0: whole. In backward p is behind the exchange.
  /// - `fy`, `fp`, `fu`, `fx`: of pipeline windowed (fy also of th): how often, for each tile, the exchange
  ///   is let move on while the tile is transformed (fy) and packed (fp) before it, unpacked (fu) and
  ///   transformed (fx) behind it. Unset: after every operation.
  /// - `subtile`: of pipelines planes and two-front: KiB of what passes through the cache at a time, but no
  ///   less than the lines or planes of one FFT.
  /// - `front`, `rest`: of pipeline two-front: percent of the columns that go with the planes, and the number
  ///   of tiles in which the others follow (in backward: come first).
  /// - `exchange`: auto, direct, or among MPI ranks p2p, p2pw, alltoallv, pairwise, alltoall, alltoallw,
  ///   ialltoallv, among threads copy. One name for all reshapes, or one for each in the order of forward,
  ///   separated by commas: "alltoallv,p2p". auto is direct among threads and among MPI ranks of one machine
  ///   (copy and p2pw with workspace of the user). Among several machines it is p2pw, or where some ranks
  ///   share a machine direct, with p2pw for what goes from machine to machine; with pipelines that leave
  ///   packing to the exchange (th, windowed, sequential) p2p. direct among MPI ranks takes the workspace
  ///   from /dev/shm: too little room there is an error, or with exchange auto a warning, and p2pw instead.
  /// - `layout`: auto, contiguous, strided. Whether the axes of a local FFT are made the fastest ones by the
  ///   reshape before it, or lie as they come, behind the axes that are cut. auto is strided where the
  ///   exchange packs nothing itself (direct, p2pw, alltoallw), else contiguous.
  /// - `graph`: auto, on, off. Of arrays in memory of GPUs: whether executions are captured as CUDA graphs,
  /// by
  ///   arrays, and launched again. Not with exchanges that the host carries, nor with nccl; on is an error
  ///   then. auto is on for boxes so small that enqueuing an execution takes about as long as the execution.
  /// - `fft`: auto, fftw, mkl. The local FFT library; what it cannot do, the other one does if it is there.
  ///   auto is FFTW where it is built in; with effort measure or patient, the faster one for each transform.
  /// - `effort`: estimate, measure, patient. estimate goes by rules. measure times the best few combinations
  /// of
  ///   decomposition, grid, exchange, pipeline and layout that are left open, forward and backward on arrays
  ///   of its own; patient also searches among the parameters of the pipeline. The local FFT library plans
  ///   with the same effort; with fft auto, measure and patient also time each transform with every library:
  ///   results may differ in the last bits between runs.
  /// - `trials`, `budget`: how many candidates measure and patient time at most (40), and for how long
  ///   ("30s"; unset: 10 s for measure, 60 s for patient). Planning of local FFTs counts as well, a
  ///   hundredth for each at most.
  /// - `search`: nelder-mead, random. Of effort patient; random is for comparison.
  /// - `wisdom`: a file. What it knows of this problem on this machine is taken over without any trial; what
  /// is
  ///   found is added to it. See weft/wisdom.hpp.
  /// - `threads`: threads of this rank for local FFTs and copies, the caller included; 1 is the default.
  /// - `workspace`: plan, user. Whether the plan allocates it, or it is given at every execution.
  /// - `check`: local, collective. With collective, misuse of forward or backward on one rank fails on all,
  ///   for one small reduction per execution. Threads always do.
  Options& set(const std::string& name, const std::string& value);
  Options& set(const std::string& name, Index value) { return set(name, std::to_string(value)); }

  /// The value of an option: as set, else from the environment, else the default. Throws for an unknown name.
  std::string get(const std::string& name) const;

  /// The value of an option that is a number; nothing if it is unset.
  std::optional<Index> number(const std::string& name) const;

  /// The value of an option that is a time in seconds; nothing if it is unset.
  std::optional<double> seconds(const std::string& name) const;

  /// The parameters of pipelines that the program has set: one value for all reshapes, or one for each.
  std::map<std::string, std::vector<Index>> parameters() const;

  /// Whether the program has set an option.
  bool is_set(const std::string& name) const { return values_.contains(name); }

  /// All names, with their value after environment and defaults.
  std::vector<std::pair<std::string, std::string>> all() const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace weft
