// Operations that follow one another, as they share scratch memory. Where what moves parts has a lane of its
// own, it follows what has been computed so far, but what is computed does not follow it unless it catches
// up.
#pragma once

#include "program/building.hpp"

namespace weft {

class Sequence {
 public:
  explicit Sequence(Building& building);

  /// Appends an operation to what computes.
  void add(const Op& op) { chain(b_.writer.emit(op, before_)); }
  /// The same for one that completes a post. Where lanes are two, it waits for that post alone, not for what
  /// has been posted since.
  void complete(const Op& op, int post);
  /// Appends an operation to what moves parts; returns its number.
  int move(const Op& op);

  void add_fft(int stage, const AxisVector<int>& axes, const Place& from, const Box& from_box,
               const Place& to, const Box& to_box) {
    chain(b_.writer.emit_fft(stage, axes, from, from_box, to, to_box, before_));
  }
  /// A copy of what lies in the cache, to where it stays there.
  void copy(const Op& op, const Place& from, const Operand& to, const Box& box) {
    chain(b_.writer.emit_copy(op, from, to, box, -1, before_));
  }
  /// A copy of what lies in memory.
  void load(const Op& op, const Place& from, const Operand& to, const Box& box);
  /// A copy, also into a peer, of what is read again only after all else has been.
  void store(const Op& op, const Place& from, const Operand& to, const Box& box, int to_rank = -1);
  /// What is computed from now on follows all that has been moved so far.
  void catch_up() { append(before_, moved_); }

  /// Whether boxes do not fit the cache, so that what is written is gone when it is read.
  bool large() const { return large_; }

 private:
  static void append(Ids& to, const Ids& more) { to.insert(to.end(), more.begin(), more.end()); }
  void chain(int id) {
    if (id >= 0) before_ = {id};
  }
  Ids all() const;
  void note_moved(int id);

  Building& b_;
  bool large_;
  Ids before_;  ///< the newest operation that computes
  Ids moved_;   ///< of two lanes: the newest one that moves something
};

}  // namespace weft
