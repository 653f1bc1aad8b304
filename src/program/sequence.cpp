#include "program/sequence.hpp"

namespace weft {

Sequence::Sequence(Building& building)
    : b_(building),
      large_(static_cast<double>(building.program.largest_box_bytes) >=
             building.request.store_past_from * static_cast<double>(building.request.cache_bytes)) {}

Ids Sequence::all() const {
  Ids ids = before_;
  append(ids, moved_);
  return ids;
}

void Sequence::note_moved(int id) {
  if (id >= 0) (b_.request.two_lanes ? moved_ : before_) = {id};
}

int Sequence::move(const Op& op) {
  const int id = b_.writer.emit(op, all());
  note_moved(id);
  return id;
}

void Sequence::complete(const Op& op, int post) {
  Ids deps = before_;
  if (b_.request.two_lanes) deps.push_back(post);
  chain(b_.writer.emit(op, deps));
}

void Sequence::load(const Op& op, const Place& from, const Operand& to, const Box& box) {
  copy(op, from, to, box);
  b_.program.copies.back().load_ahead = large_;
}

void Sequence::store(const Op& op, const Place& from, const Operand& to, const Box& box, int to_rank) {
  const bool leaves = to_rank >= 0;
  const int id = b_.writer.emit_copy(op, from, to, box, to_rank, leaves ? all() : before_);
  if (id < 0) return;
  leaves ? note_moved(id) : chain(id);
  b_.program.copies.back().store_past = large_;
}

}  // namespace weft
