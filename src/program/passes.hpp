// Passes over data that does not fit the cache: each part is read once, transformed in scratch memory that
// stays in the cache, and stored once.
#pragma once

#include <functional>
#include <vector>

#include "program/sequence.hpp"

namespace weft {

/// One pass: at most one FFT, and what it reads and writes.
struct Pass {
  int stage = -1;
  AxisVector<int> axes;
  Place source;
  Place result;    ///< only its element and the strides' order count, unless the pass completes the result
  Box result_box;  ///< of all parts together
  std::vector<Box> parts;
  int arrival = -1;  ///< the reshape that left the source packed as it arrived; -1: it lies together
};

class Passes {
 public:
  /// Copies a part of what a pass reads, that does not lie together, to scratch memory.
  using Gather = std::function<void(const Pass& pass, const Box& part, const Place& to)>;

  Passes(Building& building, Sequence& sequence) : b_(building), sequence_(sequence) {}

  /// Provides scratch memory for a pass; for all before the first part is transformed.
  void make_room(const Pass& pass);
  /// Reads a part and transforms it; returns where the result is: in scratch memory, in the user's array if
  /// it lies together there and the pass completes the result, or where it was if there is nothing to
  /// transform. With two lanes nothing has to lie together, and the result is where that of the pass belongs.
  Place transform(const Pass& pass, const Box& part, bool completes, const Gather& gather = {});
  /// Stores a part of the result, unless it is in the user's array already. `op` is a copy.
  void finish(const Op& op, const Place& from, const Box& part) {
    if (from.space != Space::output) sequence_.store(op, from, b_.output.at(part), part);
  }
  Program close();

  /// How many caches so many bytes fill.
  double caches(Index bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(b_.request.cache_bytes);
  }

 private:
  void read(const Pass& pass, const Box& part, const Place& to, const Gather& gather);
  bool takes_two_calls(const AxisVector<int>& axes) const;
  Index room(const Box& part, const Place& like) const;
  Place scratch(const Box& part, const Place& like, int number) const;
  Place area(const Box& part, const Place& like, int number);

  Building& b_;
  Sequence& sequence_;
  Index scratch_bytes_ = 0;  ///< of one of the two scratch areas
  Index areas_ = 0;          ///< how many of them are used
};

}  // namespace weft
