// Appends operations to a program one behind the other, because they share scratch memory. With two lanes an
// operation that moves parts between ranks follows all that was computed before it; an operation that
// computes follows the moves before it only after `catch_up`.
#pragma once

#include "program/program_writer.hpp"

namespace weft {

class Sequence {
 public:
  explicit Sequence(ProgramWriter& writer) : w_(writer) {}

  /// Appends an operation that computes.
  void add(const Op& op) { chain(w_.emit(op, before_)); }
  /// Appends an operation that completes a post. With two lanes it follows that post alone, not later ones.
  void complete(const Op& op, int post) {
    Ids deps = before_;
    if (w_.request.two_lanes) deps.push_back(post);
    chain(w_.emit(op, deps));
  }
  /// Appends an operation that moves parts between ranks, and follows others as well; returns its number.
  int move(const Op& op, const Ids& others = {}) {
    Ids deps = all();
    append(deps, others);
    const int id = w_.emit(op, deps);
    note_moved(id);
    return id;
  }
  void add_fft(int stage, const AxisVector<int>& axes, const Place& from, const Place& to, const Box& part) {
    chain(w_.emit_fft(stage, axes, from, to, part, before_));
  }
  /// Appends what `make`, given the newest operation, appends; it returns the numbers.
  template <class Make>
  void follow(const Make& make) {
    for (const int id : make(before_)) chain(id);
  }
  /// A copy from the cache to memory that stays in the cache.
  void copy(const Op& op, const Place& from, const Place& to, const Box& part) {
    chain(w_.emit_copy(op, from, to, part, before_));
  }
  /// A copy of what is not in the cache.
  void load(const Op& op, const Place& from, const Place& to, const Box& part) {
    copy(op, from, to, part);
    w_.program.copies.back().load_ahead = w_.large();
  }
  /// A copy, perhaps into a peer's workspace, whose result is not read again soon.
  void store(const Op& op, const Place& from, const Place& to, const Box& part) {
    const bool leaves = w_.stores_into_peer(op);
    const int id = w_.emit_copy(op, from, to, part, leaves ? all() : before_);
    if (id < 0) return;
    leaves ? note_moved(id) : chain(id);
    w_.program.copies.back().store_past = w_.large();
  }
  /// The newest operation that computes.
  const Ids& computed() const { return before_; }
  /// With two lanes: the newest operation that moves parts between ranks.
  const Ids& moved() const { return moved_; }
  /// What is computed from now on follows what had been moved then.
  void follow_moves(const Ids& moved) { append(before_, moved); }
  /// What is computed from now on follows all that has been moved so far.
  void catch_up() { follow_moves(moved_); }

 private:
  void chain(int id) {
    if (id >= 0) before_ = {id};
  }
  Ids all() const {
    Ids ids = before_;
    append(ids, moved_);
    return ids;
  }
  void note_moved(int id) {
    if (id >= 0) (w_.request.two_lanes ? moved_ : before_) = {id};
  }

  ProgramWriter& w_;
  Ids before_;  ///< the newest operation that computes
  Ids moved_;   ///< of two lanes: the newest one that moves something
};

}  // namespace weft
