// Passes over data that does not fit the cache: each part is read once, transformed in scratch memory that
// stays in the cache, and stored once. Builders that work this way share it; operations follow one another,
// as they share the scratch memory.
#pragma once

#include <vector>

#include "program/building.hpp"

namespace weft {

class Passes : public Building {
 public:
  using Building::Building;
  virtual ~Passes() = default;

 protected:
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

  /// Provides scratch memory for a pass; for all before the first part is transformed.
  void make_room(const Pass& pass);
  /// Reads a part and transforms it; returns where the result is: in scratch memory, in the user's array if
  /// it lies together there and the pass completes the result, or where it was if there is nothing to
  /// transform. For streams nothing has to lie together, and the result is where that of the pass belongs.
  Place transform(const Pass& pass, const Box& part, bool completes);
  /// Copies a part of what a pass reads to scratch memory.
  virtual void read(const Pass& pass, const Box& part, const Place& to);
  /// The newest copy reads what lies in memory.
  void load_ahead() { p_.copies.back().load_ahead = large(); }
  /// Stores a part of the result, unless it is in the user's array already. `op` is a copy.
  void finish(const Op& op, const Place& from, const Box& part);
  /// What is stored here is read again only after all else has been.
  void store(const Op& op, const Place& from, const Operand& to, const Box& box, int to_rank);
  /// One operation follows the other.
  int chain(int id);

  // What moves to and from other ranks follows what has been computed so far, but on streams nothing that is
  // computed follows it unless it catches up. Elsewhere it is a link of the one chain.
  Ids travels() const;
  void travel(int id);
  void catch_up();
  Program close();

  /// How many caches so many bytes fill.
  double caches(Index bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(request_.cache_bytes);
  }

  Ids before_;  ///< the newest operation

 private:
  Ids travelled_;  ///< on streams: the newest one that moves something
  /// Whether boxes do not fit the cache, so that what is written is gone when it is read.
  bool large() const { return caches(p_.largest_box_bytes) >= request_.store_past_from; }
  bool takes_two_calls(const AxisVector<int>& axes) const;
  Index room(const Box& part, const Place& like) const;
  Place scratch(const Box& part, const Place& like, int number) const;
  Place area(const Box& part, const Place& like, int number);

  Index scratch_bytes_ = 0;  ///< of one of the two scratch areas
  Index areas_ = 0;          ///< how many of them are used
};

}  // namespace weft
