#include "program/planes.hpp"

#include <algorithm>
#include <map>

#include "program/passes.hpp"
#include "program/sub_tiles.hpp"

namespace weft {

namespace {

class Planes : Passes {
 public:
  using Passes::Passes;

  Program build() {
    landings_.resize(static_cast<std::size_t>(place_.reshapes()));
    for (int j = 0; j <= place_.reshapes(); ++j) segments_.push_back(segment(j));
    for (const Segment& s : segments_) make_room(s);
    for (int j = 0; j < place_.reshapes(); ++j) open(j);
    for (int j = 0; j < std::min(2, place_.reshapes()); ++j) free(j);
    for (int j = 0; j <= place_.reshapes(); ++j) {
      run(j);
      // The half that this segment has read is the next but one's.
      if (j > 0 && j + 1 < place_.reshapes()) free(j + 1);
    }
    return close();
  }

 private:
  /// What lies between two reshapes.
  struct Segment : Pass {
    std::vector<int> tiles;  ///< of the reshape behind it: how many parts belong to tiles up to this one
  };

  const Segment& at(int j) const { return segments_[static_cast<std::size_t>(j)]; }
  bool is_last(int j) const { return j == place_.reshapes(); }

  /// The two halves of the workspace take turns, so that a peer's tiles of the next reshape may come while
  /// those of this one are read.
  Place landing(int j, int rank) const {
    return place_.dense(place_.field_after(j), rank, j % 2 == 0 ? 0 : place_.staging_base(rank));
  }

  /// The same of a peer, to which many parts go.
  const Place& peer_landing(int j, int rank) {
    auto& known = landings_[static_cast<std::size_t>(j)];
    const auto found = known.find(rank);
    return found != known.end() ? found->second : known.emplace(rank, landing(j, rank)).first->second;
  }

  Segment segment(int j) const {
    Segment s;
    s.stage = place_.fft_stage(j);
    if (s.stage >= 0) s.axes = schedule_.stages[static_cast<std::size_t>(s.stage)].axes;
    s.source = j == 0 ? input_ : landing(j - 1, rank_);
    s.result = is_last(j) ? output_ : place_.dense(place_.field_before(j), rank_, 0);
    s.result_box = s.result.box;
    if (s.source.box.empty()) return s;
    const Order order = order_of(s.source.strides);
    const int bytes = std::max(s.source.element_bytes, s.result.element_bytes);
    const Index room = choice(std::min(j, place_.reshapes() - 1)).subtile;
    const int tiles = is_last(j) ? 1 : tiles_of(j, rank_);
    for (int k = 0; k < tiles; ++k) {
      const Box tile = is_last(j) ? s.source.box : same_cut(tile_of(j, rank_, k), s.source.box, s.axes);
      const std::vector<Box> parts = sub_tiles(tile, order, s.axes, bytes, room);
      s.parts.insert(s.parts.end(), parts.begin(), parts.end());
      s.tiles.push_back(static_cast<int>(s.parts.size()));
    }
    return s;
  }

  /// Tiles that a rank sends in a reshape cut one axis of what it holds before.
  int tiles_of(int j, int rank) const {
    const Box box = place_.field_before(j).box(rank);
    if (box.empty()) return 0;
    const ReshapeChoice& c = choice(j);
    return c.axis < 0 ? 1 : static_cast<int>((box.extent(c.axis) + c.tile - 1) / c.tile);
  }

  Box tile_of(int j, int rank, int k) const {
    Box box = place_.field_before(j).box(rank);
    const ReshapeChoice& c = choice(j);
    if (c.axis < 0) return box;
    const Index lo = box.lo[c.axis], hi = box.hi[c.axis];
    box.lo[c.axis] = std::min(hi, lo + k * c.tile);
    box.hi[c.axis] = std::min(hi, lo + (k + 1) * c.tile);
    return box;
  }

  TileMessages& messages(int j, int k) {
    return p_.reshapes[static_cast<std::size_t>(j)].messages.tiles[static_cast<std::size_t>(k)];
  }
  TileMessages& far(int j, int k) {
    return p_.reshapes[static_cast<std::size_t>(j)].far.tiles[static_cast<std::size_t>(k)];
  }
  int tiles_here(int j) const {
    return static_cast<int>(p_.reshapes[static_cast<std::size_t>(j)].messages.tiles.size());
  }

  /// Where parts for other machines wait for their departure: behind the landing halves.
  Index departure_base() const { return (place_.reshapes() > 1 ? 2 : 1) * place_.staging_base(rank_); }

  /// The part of a tile that goes to another machine, dense in its receiver's memory order.
  Place departing(int j, const Overlap& o, Index base) const {
    Place p = place_.dense(place_.field_before(j), rank_, departure_base() + base);
    p.box = o.box;
    p.strides = dense_strides(o.box.extents(), place_.field_after(j).order(o.rank));
    return p;
  }

  /// What this rank sends and receives in a reshape, and where its peers' tiles land.
  void open(int j) {
    const int bytes = place_.element_bytes(place_.field_before(j));
    p_.reshapes.push_back({choice(j), {bytes, {}, choice(j).tiles}, {bytes, {}, choice(j).tiles}});
    ReshapeProgram& r = p_.reshapes.back();
    const auto grow = [&](int tiles) {
      if (tiles <= tiles_here(j)) return;
      r.messages.tiles.resize(static_cast<std::size_t>(tiles));
      r.far.tiles.resize(static_cast<std::size_t>(tiles));
    };
    grow(tiles_of(j, rank_));
    Index waiting = 0;
    for (int k = 0; k < tiles_of(j, rank_); ++k)
      for (const Overlap& o : place_.field_after(j).tiling->overlaps(tile_of(j, rank_, k))) {
        const Message message{o.rank, 0, o.box.count() * bytes};
        if (near(o.rank)) {
          messages(j, k).sends.push_back(message);
          continue;
        }
        const Order& order = place_.field_after(j).order(o.rank);
        far(j, k).sends.push_back(message);
        far(j, k).from.push_back({o.box, departing(j, o, waiting).at(o.box), order});
        waiting += message.bytes;
      }
    const Place here = landing(j, rank_);
    for (const Overlap& o : place_.field_before(j).tiling->overlaps(here.box)) {
      grow(tiles_of(j, o.rank));
      for (int k = 0; k < tiles_of(j, o.rank); ++k) {
        const Box part = intersect(tile_of(j, o.rank, k), here.box);
        if (part.empty()) continue;
        const Message message{o.rank, 0, part.count() * bytes};
        if (near(o.rank)) {
          messages(j, k).receives.push_back(message);
        } else {
          far(j, k).receives.push_back(message);
          far(j, k).to.push_back({part, here.at(part), place_.field_after(j).order(rank_)});
        }
        const Span span = span_of(here.at(part), part.extents(), here.element_bytes);
        ByteRange& reach = messages(j, k).landing;
        if (reach.last == 0) reach.first = span.first;
        reach = {std::min(reach.first, span.first), std::max(reach.last, span.last)};
      }
    }
  }

  void free(int j) {
    for (std::size_t k = 0; k < p_.reshapes[static_cast<std::size_t>(j)].messages.tiles.size(); ++k)
      if (!messages(j, static_cast<int>(k)).receives.empty())
        chain(writer_.emit(op_of(j, OpKind::signal_free, static_cast<int>(k)), before_));
  }

  void run(int j) {
    const Segment& s = at(j);
    awaited_ = 0;
    int k = 0;
    for (std::size_t i = 0; i < s.parts.size(); ++i) {
      if (j > 0) await(j - 1, span_of(s.source.at(s.parts[i]), s.parts[i].extents(), s.source.element_bytes));
      if (!is_last(j) && (i == 0 || static_cast<int>(i) == s.tiles[static_cast<std::size_t>(k - 1)]))
        await_room(j, k++);
      const Place done = transform(s, s.parts[i], is_last(j));
      if (is_last(j)) {
        // A copy alone, as among bricks, counts to the reshape before it.
        const Op copy{.kind = OpKind::copy, .stage = s.stage};
        finish(s.stage < 0 ? op_of(j - 1, OpKind::copy, 0) : copy, done,
               same_cut(s.parts[i], s.result_box, s.axes));
      } else {
        put(j, k - 1, done, same_cut(s.parts[i], s.result_box, s.axes));
        if (static_cast<int>(i) + 1 == s.tiles[static_cast<std::size_t>(k - 1)]) tell(j, k - 1);
      }
    }
    if (j > 0) await_tiles(j - 1, tiles_here(j - 1));
    if (!is_last(j)) depart(j);
  }

  /// Tiles arrive in order; all are awaited up to the last one that touches `span`.
  void await(int j, const Span& span) {
    int wanted = awaited_;
    for (int k = awaited_; k < tiles_here(j); ++k) {
      const ByteRange& reach = messages(j, k).landing;
      if (reach.first < span.last && span.first < reach.last) wanted = k + 1;
    }
    await_tiles(j, wanted);
  }

  void await_tiles(int j, int wanted) {
    for (; awaited_ < wanted; ++awaited_) {
      for (const Message& m : messages(j, awaited_).receives)
        if (m.peer != rank_) chain(writer_.emit(op_of(j, OpKind::await_full, awaited_, m.peer), before_));
      if (posts(j, awaited_)) chain(writer_.emit(op_of(j, OpKind::receive, awaited_), before_));
    }
  }

  /// Before a tile is put, in ring order as it will be.
  void await_room(int j, int k) {
    for (const Message& m : messages(j, k).sends)
      if (m.peer != rank_) chain(writer_.emit(op_of(j, OpKind::await_free, k, m.peer), before_));
  }

  void tell(int j, int k) {
    for (const Message& m : messages(j, k).sends)
      if (m.peer != rank_) chain(writer_.emit(op_of(j, OpKind::signal_full, k, m.peer), before_));
    post(j, k);
  }

  /// What a tile sends to other machines, and receives from them.
  void post(int j, int k) {
    if (posts(j, k)) chain(writer_.emit(op_of(j, OpKind::post, k), before_));
  }
  bool posts(int j, int k) { return !far(j, k).sends.empty() || !far(j, k).receives.empty(); }

  /// After its last tile a rank still takes part in those of others. What it sent has left when the next
  /// reshape needs the memory.
  void depart(int j) {
    for (int k = tiles_of(j, rank_); k < tiles_here(j); ++k) post(j, k);
    for (int k = 0; k < tiles_here(j); ++k)
      if (posts(j, k)) chain(writer_.emit(op_of(j, OpKind::wait_sent, k), before_));
  }

  void put(int j, int k, const Place& from, const Box& part) {
    std::vector<Overlap> parts = place_.field_after(j).tiling->overlaps(part);
    // Ring order, so that all ranks do not write to the same peer at the same time.
    const auto first =
        std::find_if(parts.begin(), parts.end(), [&](const Overlap& o) { return o.rank > rank_; });
    std::rotate(parts.begin(), first, parts.end());
    for (const Overlap& o : parts) {
      if (!near(o.rank)) {
        pack(j, k, o, from);
        continue;
      }
      store(op_of(j, OpKind::put, k, o.rank), from, peer_landing(j, o.rank).at(o.box), o.box,
            o.rank == rank_ ? -1 : o.rank);
    }
  }

  /// Into the place in the departing message of the tile.
  void pack(int j, int k, const Overlap& o, const Place& from) {
    const TileMessages& m = far(j, k);
    for (std::size_t i = 0; i < m.sends.size(); ++i) {
      if (m.sends[i].peer != o.rank) continue;
      Place to = departing(j, {o.rank, m.from[i].box}, 0);
      to.base = m.from[i].at.offset;
      chain(writer_.emit_copy(op_of(j, OpKind::pack, k, o.rank), from, to.at(o.box), o.box, -1, before_));
    }
  }

  std::vector<Segment> segments_;
  std::vector<std::map<int, Place>> landings_;
  int awaited_ = 0;  ///< tiles of the reshape before the present segment
};

}  // namespace

Program build_planes(const Schedule& schedule, const std::vector<ReshapeChoice>& choices,
                     const ProgramRequest& request) {
  return Planes(schedule, choices, request).build();
}

}  // namespace weft
