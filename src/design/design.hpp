// All that is chosen of a plan: a value, made from the problem, the wishes and the setting alone, alike on
// all ranks. It is printed, compared, tried by the tuner and bound (exec/bound_plan.hpp).
// The rules are in rules/.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "design/setting.hpp"
#include "design/wishes.hpp"
#include "program/builder.hpp"
#include "traffic/rail_settings.hpp"
#include "weft/problem.hpp"

namespace weft {

/// A value that was chosen, by whom and why.
template <class T>
struct Chosen {
  T value{};
  Origin origin = Origin::rule;
  std::string reason = {};
  friend bool operator==(const Chosen&, const Chosen&) = default;
};

/// What memory a rank needs beside that of its program.
struct MemoryMap {
  Index largest_box = 0;         ///< bytes of the largest box of any stage, on any rank
  bool users_workspace = false;  ///< the workspace is given at every execution
  /// Devices: executions use two workspaces in turn, if there is room and none has more bytes. 0: never.
  Index largest_in_turn = 0;
  bool ffts_put = false;       ///< the last FFT before an exchange stores on peers (docs/adr/0048)
  bool needs_turns = false;    ///< where ranks have to wait for room that pipeline is not worth it
  bool may_be_leaner = false;  ///< another pipeline, which needs less, may be taken
  bool may_not_share = false;  ///< another exchange, which does not store, may be taken
  std::string far;             ///< the exchange that serves the pairs of ranks that stores leave out, or ""
  std::vector<std::string> staged;  ///< the exchanges whose parts go through pinned memory
  friend bool operator==(const MemoryMap&, const MemoryMap&) = default;
};

struct Design {
  std::array<Schedule, 2> schedules;            ///< by direction
  std::array<std::vector<Leg>, 2> legs;         ///< by direction, one per reshape
  Chosen<bool> contiguous;                      ///< layout of the local FFTs
  Chosen<int> threads;                          ///< of every rank
  Chosen<std::optional<int>> plain_executions;  ///< before executions are captured as graphs; none: never
  MemoryMap memory;
  RailSettings rails;              ///< of exchanges on rails
  std::string rails_chosen;        ///< what trials or executions have found; or nothing
  ProgramRequest program;          ///< what the programs of all ranks and both directions have in common
  std::array<double, 2> scales;    ///< by direction
  std::vector<Index> cache_bytes;  ///< one for all ranks, or one for each

  const Schedule& schedule(Direction d) const { return schedules[static_cast<std::size_t>(d)]; }
  const std::vector<Leg>& legs_of(Direction d) const { return legs[static_cast<std::size_t>(d)]; }
  /// The leg of a reshape of forward, and that of the reshape like it backward.
  std::array<Leg*, 2> legs_like(int reshape) {
    return {&at(legs[0], reshape), &at(legs[1], reshape_like(schedules[1], reshape))};
  }
  bool on_device() const { return program.two_lanes; }
  friend bool operator==(const Design&, const Design&) = default;
};

/// Whether both reshapes of either direction land in the halves of one workspace in turn.
inline bool lands_in_turn(const Design& design) {
  return !design.legs[0].empty() && design.legs[0].front().in_turn();
}

/// Whether some exchange is on rails.
inline bool on_rails(const Design& design) {
  return std::ranges::any_of(design.legs[0], [](const Leg& leg) { return leg.traits.on_rails; });
}

/// Chooses. `problem` has been checked and completed (api/problem_check.hpp). Throws `weft::Error`, on all
/// ranks alike, for wishes that cannot be fulfilled.
Design design(const Problem& problem, const Wishes& wishes, const Setting& setting);

/// The bound of the relative error that codecs add to the output, ||y - y*|| / ||y*|| in the 2-norm over what
/// is stored, y* without codecs. Where the design leaves out modes or points behind a codec, y* has them,
/// too: no bound is relative to the rest of them, which may be zero. 0: exact.
double codec_error(const Design& design, Direction direction);
/// Whether an execution leaves out modes or points behind an exchange that has a codec.
bool leaves_out(const Design& design, Direction direction);
/// The bound of ||y - y*|| over the 2-norm of the input, wherever modes or points are left out.
double codec_error_of_input(const Design& design, Direction direction);

/// How the arrays of one rank lie, before and after forward; no strides: dense.
using UserLayouts = std::array<Layout, 2>;

/// The program of one rank. Pure.
Program program_of(const Design& design, Direction direction, int rank, const UserLayouts& layouts = {});

/// One choice per line, with reasons: what of a printed plan is the same on all ranks.
std::string to_string(const Design& design);

const char* name_of(Direction direction);

}  // namespace weft
