// What the builders of programs share: the schedule, the request, where everything lies, and the operations
// written so far. The writer decides which calls an FFT of several axes becomes, and which operations scale
// the result.
#pragma once

#include <vector>

#include "program/builder.hpp"
#include "traffic/parcels.hpp"

namespace weft {

/// Operations by their numbers. A negative number stands for no operation.
using Ids = std::vector<int>;

inline void append(Ids& to, const Ids& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// Whether a transform between two places changes elements or lengths, so that results cannot take the place
/// of what they are computed from.
inline bool converts(const Place& from, const Place& to) {
  return from.element_bytes != to.element_bytes || !(from.box == to.box) || from.columns != to.columns;
}

struct ProgramWriter {
  ProgramWriter(const Schedule& schedule, const std::vector<Leg>& legs, const ProgramRequest& request);
  ProgramWriter(const ProgramWriter&) = delete;
  ProgramWriter& operator=(const ProgramWriter&) = delete;

  const Leg& leg(int j) const { return place.leg(j); }
  Op op_of(int j, OpKind kind, int k, int peer = -1) const {
    return {.kind = kind, .stage = place.stage_of(j), .reshape = j, .tile = k, .peer = peer};
  }
  /// The copy that a part needs on the rank that sends it: into a send buffer; where parts are stored, into
  /// the workspace of a peer or this rank's own; or to its place without the exchange.
  Op copy_of(int j, const Parcel& parcel) const;
  /// Whether an operation writes into another rank's workspace.
  bool stores_into_peer(const Op& op) const { return op.kind == OpKind::put && op.peer != rank; }

  /// Whether boxes do not fit the cache, so that what is written is gone when it is read.
  bool large() const {
    return static_cast<double>(program.largest_box_bytes) >=
           request.store_past_from * static_cast<double>(request.cache_bytes);
  }

  /// Adds reshape `j` to the program, with so many tiles on this rank.
  ReshapeProgram& open(int j, int tiles);
  /// Appends an operation that follows `deps`, and returns its number.
  int emit(Op op, const Ids& deps);
  /// Transforms a part along `axes` of a stage, from one place to another. The call that reads `from` is
  /// that of c2c and r2c axes, if there are any; DCTs and DSTs follow in place. A stage that changes lengths
  /// is one call, of all of its axes. `part` counts along the other axes; along `axes` both places are taken
  /// whole. Returns the last operation, or -1 for an empty part.
  int emit_fft(int stage, const AxisVector<int>& axes, const Place& from, const Place& to, const Box& part,
               const Ids& deps);
  /// Copies a part from one place to another. Returns -1 for an empty part.
  int emit_copy(Op op, const Place& from, const Place& to, const Box& part, const Ids& deps);
  /// One local FFT of a whole field, or a copy if there is no FFT to do. A c2r of several axes would destroy
  /// its input, so from the user's memory its complex axes go first, through `spare`.
  Ids transform_whole(int stage, const AxisVector<int>& axes, const Place& from, const Place& to,
                      const Place& spare, const Ids& deps);
  /// The finished program, without scratch memory.
  Program close();

  const Schedule& schedule;
  const ProgramRequest& request;
  const int rank;
  const Placement place;
  const Place input, output;  ///< the user's arrays
  Program program;

 private:
  bool is_r2r_axis(int axis) const { return is_r2r(schedule.transforms[axis]); }
  int emit_call(int stage, const AxisVector<int>& axes, const Place& from, const Box& from_box,
                const Place& to, const Box& to_box, const Ids& deps);
  Lane lane_of(const Op& op) const;

  // The scale is folded into the copies of the last reshape that copies all parts, or, where none does or the
  // FFT works in the cache, into the last local FFT.
  int scaled_reshape_ = -1;  ///< stage of the reshape whose copies scale
  int scaled_stage_ = -1;    ///< stage of the FFT that scales
};

}  // namespace weft
