#include "program/tile_traffic.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "program/padding.hpp"

namespace weft {

TileTraffic::TileTraffic(const Schedule& schedule, const std::vector<ReshapeChoice>& choices,
                         const ProgramRequest& request)
    : Passes(schedule, choices, request),
      cut_(place_, choices),
      traffic_(static_cast<std::size_t>(place_.reshapes())) {
  for (int j = 0; j < place_.reshapes(); ++j) at(j).arrives_lying = can_arrive_lying(j);
}

Place TileTraffic::landing(int j, int rank) const {
  return place_.dense(place_.field_after(j), rank, j % 2 == 0 ? 0 : place_.staging_base(rank));
}

const Place& TileTraffic::peer_landing(int j, int rank) {
  auto& known = at(j).landings;
  const auto found = known.find(rank);
  return found != known.end() ? found->second : known.emplace(rank, landing(j, rank)).first->second;
}

TileMessages& TileTraffic::messages(int j, int k) {
  return p_.reshapes[static_cast<std::size_t>(j)].messages.tiles[static_cast<std::size_t>(k)];
}

TileMessages& TileTraffic::posted(int j, int k) {
  ReshapeProgram& r = p_.reshapes[static_cast<std::size_t>(j)];
  ReshapeMessages& m = choice(j).carry == Carry::direct ? r.far : r.messages;
  return m.tiles[static_cast<std::size_t>(k)];
}

bool TileTraffic::can_arrive_lying(int j) const {
  if (!choice(j).any_place || choice(j).carry != Carry::packed) return false;
  const Place here = landing(j, rank_);
  const Order& order = place_.field_after(j).order(rank_);
  for (const Overlap& o : place_.field_before(j).tiling->overlaps(here.box)) {
    if (o.rank == rank_) continue;
    for (const TileCut::Part& p : cut_.parts(j, o.rank, rank_, at_once(j, o.rank)))
      if (!lies_packed(here, p.box, order)) return false;
  }
  return true;
}

/// Of the last reshape: what is left there for another would have to wait until this has left. The user's
/// array is not what exchanges are to read.
bool TileTraffic::departs_lying(int j, int k) const {
  if (!choice(j).any_place || choice(j).carry != Carry::packed || j + 1 < place_.reshapes()) return false;
  const Place& from = at(j).departing;
  if (from.space != Space::work || from.base != departing(j).base) return false;
  return std::all_of(at(j).sends.begin(), at(j).sends.end(), [&](const Part& s) {
    return s.tile != k || s.rank == rank_ || lies_packed(from, s.box, place_.field_after(j).order(s.rank));
  });
}

/// The ranks of a collective exchange post the same tiles, empty ones too.
bool TileTraffic::posts(int j, int k) {
  return choice(j).carry != Carry::direct || !posted(j, k).sends.empty() || !posted(j, k).receives.empty();
}

/// A part by itself, dense in its receiver's memory order.
Place TileTraffic::packed(int j, const Part& part, int receiver) const {
  Place p = place_.dense(place_.field_before(j), rank_, part.offset);
  p.box = part.box;
  p.strides = dense_strides(part.box.extents(), place_.field_after(j).order(receiver));
  return p;
}

void TileTraffic::open(int j) {
  const int bytes = place_.element_bytes(place_.field_before(j));
  p_.reshapes.push_back({choice(j), {bytes, {}, choice(j).tiles}, {bytes, {}, choice(j).tiles}});
  Traffic& t = at(j);
  const Box before = place_.field_before(j).box(rank_), after = place_.field_after(j).box(rank_);
  if (before.empty() && after.empty()) return;
  const auto n = static_cast<std::size_t>(choice(j).tiles);
  p_.reshapes.back().messages.tiles.resize(n);
  if (choice(j).carry == Carry::direct) p_.reshapes.back().far.tiles.resize(n);
  t.left.resize(n, 0);
  t.posts.resize(n, -1);
  const auto by_tile = [](const Part& a, const Part& b) {
    return std::tie(a.tile, a.rank) < std::tie(b.tile, b.rank);
  };
  for (const Overlap& o : place_.field_before(j).tiling->overlaps(after))
    for (const TileCut::Part& p : cut_.parts(j, o.rank, rank_, at_once(j, o.rank)))
      t.receives.push_back({o.rank, p.tile, p.box});
  std::sort(t.receives.begin(), t.receives.end(), by_tile);
  // Also of tiles without parts: MPI would take equal addresses for an exchange in place.
  for (int k = 0; k < tiles(j); ++k) {
    posted(j, k).send_start = departure_base();
    posted(j, k).receive_start = landing(j, rank_).base;
  }
  if (choice(j).carry == Carry::padded) pad(j);
  open_receives(j);
  for (const Overlap& o : place_.field_after(j).tiling->overlaps(before))
    for (const TileCut::Part& p : cut_.parts(j, rank_, o.rank, at_once(j, o.rank)))
      t.sends.push_back({o.rank, p.tile, p.box});
  std::sort(t.sends.begin(), t.sends.end(), by_tile);
  open_sends(j);
  // Ring order, so that all ranks do not write to the same peer at the same time.
  const auto turn = [&](const Part& p) { return std::tuple(p.rank <= rank_, p.rank, p.tile); };
  std::sort(t.sends.begin(), t.sends.end(), [&](const Part& a, const Part& b) { return turn(a) < turn(b); });
}

void TileTraffic::pad(int j) {
  Traffic& t = at(j);
  t.members =
      members_of(exchange_groups(*place_.field_before(j).tiling, *place_.field_after(j).tiling), rank_);
  const std::vector<Index> bytes = padded_tiles(place_, j, t.members);
  const auto n = static_cast<Index>(t.members.size());
  Index start = 0;
  for (int k = 0; k < tiles(j); ++k) {
    TileMessages& m = messages(j, k);
    m.padded_bytes = bytes[static_cast<std::size_t>(k)];
    m.padded_parts = static_cast<int>(n);
    m.send_start = departure_base() + start;
    m.receive_start = landing(j, rank_).base + start;
    start += n * m.padded_bytes;
  }
}

void TileTraffic::open_receives(int j) {
  const bool padded = choice(j).carry == Carry::padded;
  const Place here = landing(j, rank_);
  Index offset = here.base;
  int tile = -1;
  for (Part& r : at(j).receives) {
    Message message{r.rank, offset, r.box.count() * here.element_bytes};
    if (sends_packed(j) && !arrives_packed(j)) {
      if (stores(j, r.rank)) continue;
      messages(j, r.tile).receives.push_back({r.rank, 0, message.bytes});
      messages(j, r.tile).to.push_back({r.box, here.at(r.box), place_.field_after(j).order(rank_)});
      continue;
    }
    if (arrives_packed(j)) {
      for (; tile < r.tile && !padded; ++tile) messages(j, tile + 1).receive_start = offset;
      if (const TileMessages& m = messages(j, r.tile); padded)
        message.offset = padded_slot(at(j).members, r.rank, m.receive_start, m.padded_bytes);
      r.offset = message.offset;
      offset += message.bytes;
      if (!stores(j, r.rank)) messages(j, r.tile).receives.push_back(message);
      continue;
    }
    if (!stores(j, r.rank)) {
      posted(j, r.tile).receives.push_back({r.rank, 0, message.bytes});
      posted(j, r.tile).to.push_back({r.box, here.at(r.box), place_.field_after(j).order(rank_)});
    } else if (choice(j).carry == Carry::direct) {
      messages(j, r.tile).receives.push_back({r.rank, 0, message.bytes});
      if (r.rank != rank_)
        messages(j, r.tile).to.push_back({r.box, here.at(r.box), place_.field_after(j).order(rank_)});
    }
    if (choice(j).carry != Carry::direct) continue;
    const Span span = span_of(here.at(r.box), r.box.extents(), here.element_bytes);
    ByteRange& reach = messages(j, r.tile).landing;
    if (reach.last == 0) reach.first = span.first;
    reach = {std::min(reach.first, span.first), std::max(reach.last, span.last)};
  }
}

void TileTraffic::open_sends(int j) {
  const bool padded = choice(j).carry == Carry::padded;
  const int bytes = place_.element_bytes(place_.field_before(j));
  Index offset = departure_base();
  int tile = -1;
  for (Part& s : at(j).sends) {
    at(j).left[static_cast<std::size_t>(s.tile)] += s.box.count();
    for (; tile < s.tile && !padded; ++tile) posted(j, tile + 1).send_start = offset;
    Message message{s.rank, offset, s.box.count() * bytes};
    if (const TileMessages& m = messages(j, s.tile); padded)
      message.offset = padded_slot(at(j).members, s.rank, m.send_start, m.padded_bytes);
    if (stores(j, s.rank)) {
      if (choice(j).carry == Carry::direct) messages(j, s.tile).sends.push_back({s.rank, 0, message.bytes});
      // This rank's own part goes straight to where it would arrive.
      for (const Part& r : at(j).receives)
        if (r.rank == s.rank && r.tile == s.tile) s.offset = r.offset;
      continue;
    }
    s.offset = message.offset;
    offset += message.bytes;
    posted(j, s.tile).sends.push_back({s.rank, sends_packed(j) ? message.offset : 0, message.bytes});
    if (!sends_packed(j))
      posted(j, s.tile).from.push_back(
          {s.box, packed(j, s, s.rank).at(s.box), place_.field_after(j).order(s.rank)});
  }
}

void TileTraffic::free(int j) {
  if (choice(j).carry != Carry::direct) return;
  for (int k = 0; k < tiles(j); ++k)
    if (!messages(j, k).receives.empty()) chain(writer_.emit(op_of(j, OpKind::signal_free, k), before_));
}

std::size_t TileTraffic::pieces(int j, const Box& part) const {
  const std::vector<Part>& sends = at(j).sends;
  return static_cast<std::size_t>(std::count_if(
      sends.begin(), sends.end(), [&](const Part& s) { return !intersect(s.box, part).empty(); }));
}

void TileTraffic::put(int j, const Place& from, const Box& part) {
  for (Part& s : at(j).sends) {
    const Box piece = intersect(s.box, part);
    if (piece.empty()) continue;
    at(j).left[static_cast<std::size_t>(s.tile)] -= piece.count();
    if (!request_.streams) bring(j, s, from, piece);
  }
  at(j).departing = from;
}

void TileTraffic::bring(int j, Part& s, const Place& from, const Box& piece) {
  if (stores(j, s.rank)) {
    put_near(j, s, from, piece);
  } else {
    pack(j, s, from, piece);
  }
}

void TileTraffic::put_near(int j, Part& s, const Place& from, const Box& piece) {
  if (choice(j).carry != Carry::direct) {
    const Place to = arrives_packed(j) ? packed(j, s, rank_) : landing(j, rank_);
    store(op_of(j, OpKind::keep, s.tile), from, to.at(piece), piece, -1);
    return;
  }
  const bool own = s.rank == rank_;
  if (!own && !s.asked) travel(writer_.emit(op_of(j, OpKind::await_free, s.tile, s.rank), travels()));
  s.asked = true;
  store(op_of(j, OpKind::put, s.tile, s.rank), from, peer_landing(j, s.rank).at(piece), piece,
        own ? -1 : s.rank);
}

void TileTraffic::pack(int j, const Part& s, const Place& from, const Box& piece) {
  const Place to = packed(j, s, s.rank);
  settle(s.offset, s.offset + s.box.count() * to.element_bytes);
  chain(writer_.emit_copy(op_of(j, OpKind::pack, s.tile, s.rank), from, to.at(piece), piece, -1, before_));
}

void TileTraffic::tell_complete(int j) {
  Traffic& t = at(j);
  for (; t.told < tiles(j) && t.left[static_cast<std::size_t>(t.told)] == 0; ++t.told) tell(j, t.told);
}

/// Without packing.
void TileTraffic::send_lying(int j, int k) {
  TileMessages& m = messages(j, k);
  for (const Message& message : m.sends) {
    const auto s = std::find_if(at(j).sends.begin(), at(j).sends.end(),
                                [&](const Part& p) { return p.tile == k && p.rank == message.peer; });
    const Operand from = at(j).departing.at(s->box);
    s->offset = from.offset;
    m.from.push_back({s->box, from, place_.field_after(j).order(s->rank)});
  }
}

/// Without overlap the tile is awaited before anything else is done.
void TileTraffic::tell(int j, int k) {
  const bool lie = request_.streams && departs_lying(j, k);
  if (lie) send_lying(j, k);
  // What stays here does not keep others waiting.
  const auto bring_all = [&](bool stays) {
    for (Part& s : at(j).sends) {
      if (s.tile != k || (s.rank == rank_ && stores(j, rank_)) != stays) continue;
      if (request_.streams && (stays || !lie)) bring(j, s, at(j).departing, s.box);
      if (!stays && stores(j, s.rank))
        travel(writer_.emit(op_of(j, OpKind::signal_full, k, s.rank), travels()));
    }
  };
  bring_all(false);
  if (posts(j, k)) {
    const int post = writer_.emit(op_of(j, OpKind::post, k), travels());
    travel(post);
    at(j).posts[static_cast<std::size_t>(k)] = post;
    Leaving l{j, k, post, std::numeric_limits<Index>::max(), 0};
    const auto cover = [&](Index first, Index bytes) {
      l.first = std::min(l.first, first);
      l.last = std::max(l.last, first + bytes);
    };
    const TileMessages& m = posted(j, k);
    if (m.padded_bytes > 0) cover(m.send_start, m.padded_parts * m.padded_bytes);
    const int bytes = place_.element_bytes(place_.field_before(j));
    for (const Part& s : at(j).sends)
      if (s.tile == k && !stores(j, s.rank)) cover(s.offset, s.box.count() * bytes);
    leaving_.push_back(l);
  }
  bring_all(true);
  if (choice(j).window == 0) await_tiles(j, k + 1);
}

/// All tiles up to the last one that brings some of the part: what ranks put lies in one layout, where boxes
/// without common points have no common memory.
void TileTraffic::await(int j, const Box& part) {
  int wanted = at(j).awaited;
  for (const Part& r : at(j).receives)
    if (r.tile >= wanted && (r.rank != rank_ || !stores(j, rank_)) && !intersect(r.box, part).empty())
      wanted = r.tile + 1;
  await_tiles(j, wanted);
}

void TileTraffic::await_tiles(int j, int wanted) {
  for (int& k = at(j).awaited; k < wanted; ++k) {
    if (choice(j).carry == Carry::direct)
      for (const Message& m : messages(j, k).receives)
        if (m.peer != rank_) chain(writer_.emit(op_of(j, OpKind::await_full, k, m.peer), before_));
    if (!posts(j, k)) continue;
    complete(op_of(j, OpKind::receive, k), at(j).posts[static_cast<std::size_t>(k)]);
  }
}

void TileTraffic::complete(const Op& op, int post) {
  Ids deps = before_;
  if (request_.streams) deps.push_back(post);
  chain(writer_.emit(op, deps));
}

void TileTraffic::gather(int j, const Box& part, const Place& to) {
  for (const Part& r : at(j).receives) {
    const Box piece = intersect(r.box, part);
    if (piece.empty()) continue;
    const bool own = stores(j, r.rank);
    const Op op = op_of(j, own ? OpKind::copy : OpKind::unpack, r.tile, own ? -1 : r.rank);
    chain(writer_.emit_copy(op, packed(j, r, rank_), to.at(piece), piece, -1, before_));
    load_ahead();
  }
}

void TileTraffic::read(const Pass& pass, const Box& part, const Place& to) {
  if (pass.arrival < 0) {
    Passes::read(pass, part, to);
  } else {
    gather(pass.arrival, part, to);
  }
}

void TileTraffic::settle(Index first, Index last) {
  std::erase_if(leaving_, [&](const Leaving& l) {
    const bool meets = l.first < last && first < l.last;
    if (!meets) return false;
    complete(op_of(l.j, OpKind::wait_sent, l.tile), l.post);
    return true;
  });
}

void TileTraffic::settle_all() {
  for (const Leaving& l : leaving_) complete(op_of(l.j, OpKind::wait_sent, l.tile), l.post);
  leaving_.clear();
}

}  // namespace weft
