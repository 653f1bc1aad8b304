// Operations that follow one another, as they share scratch memory. Where what moves parts has a lane of its
// own, a move follows what has been computed so far, but what is computed follows a move only after
// `catch_up`.
#pragma once

#include "program/program_writer.hpp"

namespace weft {

class Sequence {
 public:
  explicit Sequence(ProgramWriter& writer)
      : w_(writer),
        large_(static_cast<double>(w_.program.largest_box_bytes) >=
               w_.request.store_past_from * static_cast<double>(w_.request.cache_bytes)) {}

  /// Appends an operation to what computes.
  void add(const Op& op) { chain(w_.emit(op, before_)); }
  /// Appends an operation that completes a post. Where lanes are two, it waits for that post alone, not for
  /// what has been posted since.
  void complete(const Op& op, int post) {
    Ids deps = before_;
    if (w_.request.two_lanes) deps.push_back(post);
    chain(w_.emit(op, deps));
  }
  /// Appends an operation to what moves parts; returns its number.
  int move(const Op& op) {
    const int id = w_.emit(op, all());
    note_moved(id);
    return id;
  }
  void add_fft(int stage, const AxisVector<int>& axes, const Place& from, const Place& to, const Box& part) {
    chain(w_.emit_fft(stage, axes, from, to, part, before_));
  }
  /// A copy of what lies in the cache, to where it stays there.
  void copy(const Op& op, const Place& from, const Place& to, const Box& part) {
    chain(w_.emit_copy(op, from, to, part, before_));
  }
  /// A copy of what lies in memory.
  void load(const Op& op, const Place& from, const Place& to, const Box& part) {
    copy(op, from, to, part);
    w_.program.copies.back().load_ahead = large_;
  }
  /// A copy, also into a peer, of what is read again only after all else has been.
  void store(const Op& op, const Place& from, const Place& to, const Box& part) {
    const bool leaves = w_.stores_into_peer(op);
    const int id = w_.emit_copy(op, from, to, part, leaves ? all() : before_);
    if (id < 0) return;
    leaves ? note_moved(id) : chain(id);
    w_.program.copies.back().store_past = large_;
  }
  /// What is computed from now on follows all that has been moved so far.
  void catch_up() { append(before_, moved_); }

  /// Whether boxes do not fit the cache, so that what is written is gone when it is read.
  bool large() const { return large_; }

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
  bool large_;
  Ids before_;  ///< the newest operation that computes
  Ids moved_;   ///< of two lanes: the newest one that moves something
};

}  // namespace weft
