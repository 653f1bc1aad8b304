// How a plan is to be made. Every option has a name. Some can also be set through an environment variable of
// that name (WEFT_PIPELINE); a value that the program sets beats the variable.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "weft/axis_vector.hpp"
#include "weft/export.hpp"

namespace weft {

/// Names and values of options; a plain value.
class WEFT_API Options {
 public:
  /// Sets an option by name. Throws `weft::Error` for an unknown name or value and lists the known ones.
  /// Local. docs/options.md says more about each option; the first value is the default.
  ///
  /// How the array is cut between input and output:
  /// - `decomposition`: auto, slab, pencil, brick. auto takes the fewest reshapes that keep the ranks busy,
  ///   of slabs and pencils. brick puts a grid that cuts three axes between every two pencil grids: more
  ///   reshapes, each among fewer ranks.
  /// - `grid`: auto, or two numbers of parts, "2x4", for pencils. Their product is the number of ranks that
  ///   transform. Weft chooses the axis of each; with decomposition auto a grid asks for pencils.
  /// - `shrink`: a number R, or auto. Only the first R ranks transform; the others hold points only where the
  ///   input or the output says so. auto: as many as are predicted or measured to be fastest. Unset: all.
  /// - `fft_stage`: auto, early, next, last. When axes are transformed that are whole on every rank in
  ///   several stages: at once, in the next stage that transforms others, or in the last stage where they are
  ///   whole. auto: as predicted or measured to be fastest; else next for axes that leave a stage where rows
  ///   of memory are cut for one where they are whole, early for others. Where GPUs put in both of two
  ///   exchanges, right before the exchange that cuts an axis, and in the last stage otherwise.
  ///
  /// How exchanges and local FFTs follow each other in time:
  /// - `pipeline`: auto, sequential, th, windowed, planes, two-front, shared. auto is two-front among several
  ///   machines if the exchange does not block; on one machine, if the exchange is direct, planes where what
  ///   a rank holds is more than its second-level cache, and shared where it is less; else sequential; or the
  ///   pipeline that has the parameters that are set. windowed and th are NEW and TH of "Designing and
  ///   auto-tuning parallel 3-D FFT for computation-communication overlap". With shared, ranks of one machine
  ///   transform one array together, in memory of the first rank, and exchange nothing.
  /// - `overlap`: on, off. off waits for each tile before anything else is done. The difference in time is
  ///   what overlap is worth.
  ///
  /// Parameters of pipelines: one value for all reshapes, or one for each in the order of forward, "16,8".
  /// Unset: by rule. A value that is not feasible, such as a tile thicker than its axis, is an error.
  /// - `tile` (th, windowed, planes, two-front): thickness of a tile in points; 0: an eighth of the axis.
  /// - `window` (th, windowed): number of tiles under way.
  /// - `items` (th, windowed): items of a batch in a tile. With 1, `tile` cuts each item; tiles of several
  ///   items are not cut further. 0: an eighth of the batch, or 1 if `tile` is set.
  /// - `px`, `pz` (windowed): thickness of what is transformed and packed together while it is in the cache,
  ///   across the tile (px) and along the axis that tiles cut (pz). 0: the whole tile.
  /// - `uy`, `uz` (windowed): the same for what is unpacked and transformed together.
  /// - `fy`, `fp`, `fu`, `fx` (windowed; fy also th): how often MPI is called to make progress while a tile
  ///   is transformed before the exchange, packed, unpacked, and transformed after it. Unset: after every
  ///   operation.
  /// - `subtile` (planes, two-front): KiB that pass through the cache at a time, but no less than the lines
  ///   or planes of one FFT.
  /// - `front`, `rest` (two-front): percentage of the columns that are sent with the planes, and number of
  ///   tiles in which the others follow (in backward: come first).
  ///
  /// How data move and lie:
  /// - `exchange`: auto, direct, copy (among threads), p2p, p2pw, alltoallv, pairwise, alltoall, alltoallw,
  ///   ialltoallv, ring (among MPI ranks), node (among MPI ranks some of which share a machine: one message
  ///   for each pair of machines), ucx (among MPI ranks), node_ucx (as node, one message on each network),
  ///   nccl and nvshmem (among GPUs). One for all reshapes, or one for each in forward's order,
  ///   "alltoallv,p2p". auto is direct where ranks share memory, with p2pw between machines; else p2pw, or
  ///   p2p for th, windowed and sequential. Among GPUs it is direct, with messages of the host (p2p) between
  ///   those that do not reach each other; nccl and nvshmem are named, or found by trials. With workspace of
  ///   the user direct, ring, node, node_ucx and nvshmem are not possible, and auto is copy or p2pw. Among
  ///   MPI ranks direct takes it from /dev/shm: too little room there is an error, or with auto a warning and
  ///   p2pw.
  /// - `rails`, `chunk`, `inflight`, `one_sided`, `barrier`, `rebalance`: of exchange ucx, and `rails` of
  ///   node_ucx. `rails`: auto, a number, or names of network devices, "eth0,eth1". `chunk`: the most bytes
  ///   of a transfer (by rule). `inflight`: transfers that a rank sends on a rail at a time (4). `one_sided`:
  ///   auto, on, off: they are put into their receivers' workspaces. `barrier`: off, on, or a number: ranks
  ///   wait for each other after each step of the ring, or after so many. `rebalance`: off, or a number from
  ///   1 (1.1): transfers move to another rail if they would be done so many times sooner there.
  ///   docs/rails.md says more.
  /// - `layout`: auto, contiguous, strided. contiguous: the reshape before a local FFT makes the axes of that
  ///   FFT the fastest ones in memory. strided: they lie as they come, behind the axes that are cut. auto is
  ///   strided on GPUs and where the exchange does not pack (direct, p2pw, alltoallw), else contiguous.
  /// - `workspace`: plan, user. Whether the plan allocates the workspace, or the program gives it at every
  ///   execution.
  ///
  /// Arrays in memory of GPUs:
  /// - `graph`: auto, on, off. Whether executions are captured as CUDA graphs and launched again. on is an
  ///   error where the host, NCCL or NVSHMEM carries an exchange. auto is on for boxes so small that
  ///   enqueuing an execution takes about as long as the execution.
  /// - `puts`: auto, kernel, engine. Whether exchange direct stores into other GPUs by kernels or by copy
  ///   engines.
  /// - `staging`: auto, on, off. Whether messages go through pinned memory of the host. auto: off where MPI
  ///   says that it takes memory of GPUs, else on; off is an error where MPI does not say so.
  ///
  /// Local FFTs and planning:
  /// - `fft`: auto, fftw, mkl, cufft. What the library cannot do, another one for the same memory does. auto
  ///   is FFTW where it is built in; with fft_effort measure or patient, the fastest library for each
  ///   transform, so that results may differ in the last bits between runs.
  /// - `fft_effort`: auto, estimate, measure, patient. What the library of local FFTs may try while planning,
  ///   for each transform for at most a tenth of `budget`, or a hundredth where `effort` makes trials. auto:
  ///   as `effort`; online is estimate.
  /// - `threads`: threads of this rank for local FFTs and copies, the caller included; 1.
  /// - `effort`: estimate, measure, patient, online. estimate takes what is predicted to be fastest if the
  /// machine is
  ///   described, else it goes by rules. measure times combinations of
  ///   decomposition, grid, exchange, pipeline and layout that are left open, in both directions, on arrays
  ///   of its own; patient also searches among the parameters of the pipeline. The local FFT library plans
  ///   with the same effort. online makes the plan as estimate does, and its first executions try others,
  ///   between which it is replaced; for arrays on the host (docs/tuning.md).
  /// - `online`: how many executions effort online tries with; 20. 0: none.
  /// - `trials`, `budget`: how many candidates are timed at most (40), and for how long ("30s"; unset: 10 s
  ///   for measure, 60 s for patient). Planning of local FFTs counts as well.
  /// - `search`: nelder-mead, random. The search of effort patient; random is for comparison.
  /// - `machine`: a file that describes the machine (docs/model.md), or none: go by rules. Unset: what wisdom
  ///   has of this machine. A file that cannot be read is an error.
  /// - `wisdom`: a file. If it knows the problem on this machine, planning makes no trial. What trials find
  ///   is added to it; see weft/wisdom.hpp.
  /// - `trace`: a file for the timeline of the plan's first 20 executions, which each rank adds to when it
  ///   destroys the plan. docs/benchmark.md says what is in it. A file that cannot be written is an error.
  /// - `check`: local, collective. collective: misuse of an execution on one rank is an error on all, for one
  ///   small reduction per execution. Thread ranks always agree.
  Options& set(const std::string& name, const std::string& value);
  Options& set(const std::string& name, Index value) { return set(name, std::to_string(value)); }

  /// The value of an option: as set, else from the environment, else the default. Throws `weft::Error` for an
  /// unknown name.
  std::string get(const std::string& name) const;

  /// Whether the program has set an option.
  bool is_set(const std::string& name) const { return values_.contains(name); }

  /// All names, with their value after environment and defaults.
  std::vector<std::pair<std::string, std::string>> all() const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace weft
