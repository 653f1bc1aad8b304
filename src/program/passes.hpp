// Passes over data that does not fit the cache: each part is read once, transformed in scratch memory that
// stays in the cache, and stored once.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "program/sequence.hpp"
#include "program/sub_tiles.hpp"

namespace weft {

/// One pass: at most one FFT, and what it reads and writes.
struct Pass {
  int stage = -1;
  AxisVector<int> axes;
  Place source;
  /// Where the result of the whole pass belongs. A pass whose parts go elsewhere uses only its box, its
  /// element and the order of its strides.
  Place result;
  std::vector<Box> parts;
  /// Brings a part of the source to `to` where the source is still packed in receive buffers; empty: it is
  /// not.
  std::function<void(const Box& part, const Place& to)> gather = {};
  /// With two lanes: parts are gathered where the result belongs, and transformed there.
  bool gathers_in_result = false;
  /// With two lanes: parts are gathered here in the workspace; empty: in scratch memory.
  std::optional<ByteRange> gathered_at = {};
  /// Axes along which `gather` transforms what it brings. `Passes::transform` then does the others.
  AxisVector<int> axes_on_arrival = {};
  /// The box of a part's result.
  Box result_of(const Box& part) const { return same_cut(part, result.box, axes); }
};

class Passes {
 public:
  Passes(ProgramWriter& writer, Sequence& sequence) : w_(writer), sequence_(sequence) {}

  /// Provides scratch memory for a pass. To be called for all passes before the first `transform`.
  void make_room(const Pass& pass);
  /// Reads a part and transforms it; returns where the result is: in scratch memory, in the user's array if
  /// it lies together there and the pass completes the result, or where it was if there is nothing to
  /// transform. With two lanes nothing has to lie together, and the result is where that of the pass belongs.
  Place transform(const Pass& pass, const Box& part, bool completes);
  /// Stores a part of the result, unless it is in the user's array already. `op` is a copy.
  void finish(const Op& op, const Place& from, const Place& to, const Box& part) {
    if (from.space != to.space) sequence_.store(op, from, to, part);
  }
  Program close();
  /// Bytes of a part by itself in the memory order of `like`.
  Index room(const Box& part, const Place& like) const;

  /// Whether the points of a line go to few cache sets.
  static bool meets(const Pass& pass, const Box& part);
  /// Whether parts are copied aside, because they come from memory and go there, or because the points of a
  /// line would meet in few cache sets. Larger parts are transformed where they lie.
  bool copies_aside(const Pass& pass, const Box& part) const;

  /// How many caches so many bytes fill.
  double caches(Index bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(w_.request.cache_bytes);
  }

 private:
  bool takes_two_calls(const AxisVector<int>& axes) const;
  Place scratch(const Box& part, const Place& like, int number) const;
  Place area(const Box& part, const Place& like, int number);
  bool takes_area(const Pass& pass) const;
  bool spares_input(const Pass& pass) const;
  /// Where what has arrived packed is put in order.
  Place gathered(const Pass& pass, const Box& part);
  Place resize(const Pass& pass, const Box& part, bool completes);

  ProgramWriter& w_;
  Sequence& sequence_;
  Index scratch_bytes_ = 0;  ///< of one of the two scratch areas
  Index areas_ = 0;          ///< how many of them are used
};

}  // namespace weft
