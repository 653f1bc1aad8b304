// Writes the operations of a program one by one: local FFTs, copies, and whatever the builder makes itself.
// Here is decided which calls an FFT of several axes becomes, and which of them scales the result.
#pragma once

#include <vector>

#include "program/program.hpp"
#include "traffic/parcels.hpp"

namespace weft {

using Ids = std::vector<int>;

/// The copy that brings a part on its way: into a peer's workspace or, where parts are stored, into this
/// rank's own; past the exchange to its place; or into a message.
OpKind kind_of(const Parcel& parcel, const ExchangeTraits& traits);

class OpWriter {
 public:
  /// `scale`: what the direction multiplies its result by. It is folded into the copies of the last reshape
  /// that packs or puts, or, where none does or the FFT works in the cache, into a local FFT.
  /// `some_far`: not all ranks store into each other; what goes to the others is not copied.
  OpWriter(const Schedule& schedule, const std::vector<Leg>& legs, double scale, bool some_far);

  Program& program() { return p_; }

  /// Appends an operation that follows `deps` (negative ones stand for nothing) and returns its number.
  int emit(Op op, const Ids& deps);

  /// Transforms along `axes` of a stage, from one place to another. First comes what changes the elements or
  /// reads `from`: c2c and r2c; DCT and DST follow in place. Returns the last operation, or -1 for empty
  /// boxes.
  int emit_fft(int stage, const AxisVector<int>& axes, const Place& from, const Box& from_box,
               const Place& to, const Box& to_box, const Ids& deps);

  int emit_copy(Op op, const Place& from, const Operand& to, const Box& box, int to_rank, const Ids& deps);
  int emit_copy(Op op, const Operand& from, const Operand& to, const Box& box, int bytes, int to_rank,
                const Ids& deps);

  /// One local FFT of a whole field, or a copy if there is no FFT to do. A c2r of several axes would destroy
  /// its input, so from the user's memory its complex axes go first, through `spare`.
  Ids transform_whole(int stage, const AxisVector<int>& axes, const Place& from, const Place& to,
                      const Place& spare, const Ids& deps);

 private:
  const Stage& stage_at(int stage) const { return schedule_.stages[static_cast<std::size_t>(stage)]; }
  bool is_r2r_axis(int axis) const { return is_r2r(schedule_.transforms[axis]); }
  int emit_call(int stage, const AxisVector<int>& axes, const Place& from, const Box& from_box,
                const Place& to, const Box& to_box, const Ids& deps);

  Lane lane_of(const Op& op) const;

  const Schedule& schedule_;
  const std::vector<Leg>& legs_;
  Program p_;
  double scale_;
  int scaled_reshape_ = -1;  ///< stage of the reshape whose copies scale
  int scaled_stage_ = -1;    ///< stage of the FFT that scales
};

}  // namespace weft
