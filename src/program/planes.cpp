#include "program/planes.hpp"

#include <algorithm>
#include <map>

#include "program/op_writer.hpp"

namespace weft {

namespace {

constexpr Index line_bytes = 64;
/// The shortest run of memory worth reading or writing at a time.
constexpr Index shortest_run = 4 * line_bytes;

/// The part of `whole` that has the ranges of `part` along all axes but `free` ones, which it has whole.
Box same_cut(const Box& part, const Box& whole, const AxisVector<int>& free) {
  Box cut = whole;
  for (int a = 0; a < part.ndim(); ++a) {
    if (free.contains(a)) continue;
    cut.lo[a] = part.lo[a];
    cut.hi[a] = part.hi[a];
  }
  return cut;
}

/// Dense but for some room between rows whose length would send the points of a column to few cache sets.
Strides spread_strides(const Shape& extents, const Order& order, int element_bytes) {
  Shape roomy = extents;
  const int fast = order[order.size() - 1];
  if (extents[fast] * element_bytes % (4 * line_bytes) == 0) roomy[fast] += line_bytes / element_bytes;
  return dense_strides(roomy, order);
}

class Planes {
 public:
  Planes(const Schedule& schedule, const std::vector<ReshapeChoice>& choices, const ProgramRequest& request)
      : schedule_(schedule),
        choices_(choices),
        request_(request),
        rank_(request.rank),
        place_(schedule, choices, request.real_bytes),
        writer_(schedule, choices, request.scale),
        p_(writer_.program()) {
    p_.rank = request.rank;
    p_.ranks = schedule.ranks;
    p_.in_place = request.in_place;
    p_.largest_box_bytes = place_.largest_box(rank_);
    landings_.resize(static_cast<std::size_t>(place_.reshapes()));
    const Space in = request.in_place ? Space::output : Space::input;
    input_ = place_.user(schedule.input(), in, rank_, request.input);
    output_ = place_.user(schedule.output(), Space::output, rank_, request.output);
  }

  Program build() {
    for (int j = 0; j <= place_.reshapes(); ++j) segments_.push_back(segment(j));
    make_room();
    for (int j = 0; j < place_.reshapes(); ++j) open(j);
    for (int j = 0; j < std::min(2, place_.reshapes()); ++j) free(j);
    for (int j = 0; j <= place_.reshapes(); ++j) {
      run(j);
      // The half that this segment has read is the next but one's.
      if (j > 0 && j + 1 < place_.reshapes()) free(j + 1);
    }
    return close();
  }

  /// A single local FFT in two passes: all axes but the slowest, then that one.
  Program build_alone() {
    const int slowest = slowest_axis();
    Segment first;
    first.stage = 0;
    for (int a : schedule_.stages[0].axes)
      if (a != slowest) first.axes.push_back(a);
    first.source = input_;
    first.result = output_;
    Segment second = first;
    second.axes = {slowest};
    second.source = output_;
    for (Segment* s : {&first, &second}) {
      s->result_box = output_.box;
      s->parts = sub_tiles(s->source.box, order_of(s->source.strides), s->axes,
                           std::max(s->source.element_bytes, s->result.element_bytes), request_.subtile);
    }
    segments_ = {first, second};
    make_room();
    for (const Segment& s : segments_)
      for (const Box& part : s.parts)
        finish({.kind = OpKind::copy, .stage = s.stage}, transform(s, part, true),
               same_cut(part, s.result_box, s.axes));
    return close();
  }

  /// Whether that pays: the array is too large for the cache, and what the second pass reads can lie where
  /// the first one leaves it.
  bool pays_alone() const {
    const Stage& s = schedule_.stages[0];
    if (input_.box.empty() || s.axes.size() < 2) return false;
    Index points = output_.element_bytes;
    for (int a : s.axes) points *= output_.box.extent(a);
    const bool real_first =
        s.real_axis < 0 || (s.direction == Direction::forward && s.real_axis != slowest_axis());
    // Measured, with a cache of 2 MiB: a cube of 4 MiB loses, one of 32 gains little, one of 256 a third.
    return points > 16 * request_.cache_bytes && real_first &&
           (!request_.in_place || lie_alike(input_, output_, schedule_.transforms));
  }

 private:
  /// What lies between two reshapes: at most one FFT, and what it reads and writes.
  struct Segment {
    int stage = -1;
    AxisVector<int> axes;
    Place source;
    Place result;    ///< only its element and the strides' order count, but for the last segment
    Box result_box;  ///< of all parts together
    std::vector<Box> parts;
    std::vector<int> tiles;  ///< of the reshape behind it: how many parts belong to tiles up to this one
  };

  int slowest_axis() const {
    for (int a : order_of(output_.strides))
      if (schedule_.stages[0].axes.contains(a)) return a;
    return -1;
  }

  void make_room() {
    std::size_t parts = 0;
    for (const Segment& s : segments_) parts += s.parts.size();
    p_.ffts.reserve(parts);
    p_.copies.reserve(3 * parts);
    p_.ops.reserve(4 * parts);
    for (const Segment& s : segments_)
      for (const Box& part : s.axes.empty() ? std::vector<Box>{} : s.parts) {
        const Box result = same_cut(part, s.result_box, s.axes);
        scratch_bytes_ = std::max({scratch_bytes_, room(part, s.source), room(result, s.result)});
      }
  }

  Program close() {
    p_.scratch_offset = aligned(workspace_end(p_));
    p_.workspace_bytes = p_.scratch_offset + areas_ * scratch_bytes_;
    return std::move(p_);
  }

  const ReshapeChoice& choice(int j) const { return choices_[static_cast<std::size_t>(j)]; }
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

  /// Whether a rank is on the machine of this one.
  bool near(int rank) const {
    const std::vector<int>& nodes = request_.nodes;
    return nodes.empty() || nodes[static_cast<std::size_t>(rank)] == nodes[static_cast<std::size_t>(rank_)];
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

  Op op_of(int j, OpKind kind, int k, int peer = -1) const {
    return {.kind = kind, .stage = place_.stage_of(j), .reshape = j, .tile = k, .peer = peer};
  }

  /// One operation follows the other: they share the scratch memory.
  int chain(int id) {
    if (id >= 0) before_ = {id};
    return id;
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

  /// Whether boxes do not fit the cache, so that what is written is gone when it is read.
  bool large() const { return p_.largest_box_bytes >= 2 * request_.cache_bytes; }

  /// Whether a part lies so close together that passing over it reads little else.
  static bool compact(const Place& place, const Box& part) {
    const Span span = span_of(place.at(part), part.extents(), place.element_bytes);
    return 4 * (span.last - span.first) <= 5 * part.count() * place.element_bytes;
  }

  Index room(const Box& part, const Place& like) const {
    const Place p = scratch(part, like, 0);
    return aligned(span_of(p.at(part), part.extents(), p.element_bytes).last);
  }

  /// A part by itself, in the memory order of `like`.
  Place scratch(const Box& part, const Place& like, int half) const {
    Place p{Space::scratch, half * scratch_bytes_, part, {}, like.element_bytes, like.element};
    p.strides = spread_strides(part.extents(), order_of(like.strides), like.element_bytes);
    return p;
  }

  Place area(const Box& part, const Place& like, int number) {
    areas_ = std::max<Index>(areas_, number + 1);
    return scratch(part, like, number);
  }

  /// Whether a DCT or DST follows in place after an FFT.
  bool takes_two_calls(const AxisVector<int>& axes) const {
    const auto r2r = [&](int a) { return is_r2r(schedule_.transforms[a]); };
    return std::any_of(axes.begin(), axes.end(), r2r) && !std::all_of(axes.begin(), axes.end(), r2r);
  }

  /// Reads a part and transforms it; returns where the result is: in scratch memory, in the user's array if
  /// it lies together there, or where it was if there is nothing to transform.
  Place transform(const Segment& s, const Box& part, bool last) {
    if (s.axes.empty()) return s.source;
    const Box result = same_cut(part, s.result_box, s.axes);
    // What comes from memory and goes there is best copied on both ways; the FFT then works in the cache.
    const bool by_copies = large() && room(part, s.source) <= request_.cache_bytes;
    const bool complete = last && !by_copies && !takes_two_calls(s.axes) && compact(s.result, result);
    Place from = s.source;
    bool aside = false;  // whether the first scratch area is taken
    if (by_copies || !compact(s.source, part)) {
      from = area(part, s.source, 0);
      aside = true;
      chain(writer_.emit_copy({.kind = OpKind::copy, .stage = s.stage}, s.source, from.at(part), part, -1,
                              before_));
      p_.copies.back().load_ahead = large();
    }
    const bool converts = s.source.element_bytes != s.result.element_bytes;
    AxisVector<int> rest = s.axes;
    const int real = schedule_.stages[static_cast<std::size_t>(s.stage)].real_axis;
    const bool c2r = schedule_.stages[static_cast<std::size_t>(s.stage)].direction == Direction::backward &&
                     s.axes.contains(real);
    if (c2r && s.axes.size() > 1 && from.space == Space::input) {
      // A c2r of several axes would destroy the user's input.
      AxisVector<int> complex;
      rest = {};
      for (int a : s.axes) (a == real ? rest : complex).push_back(a);
      const Place spare = area(part, s.source, 0);
      chain(writer_.emit_fft(s.stage, complex, from, part, spare, part, before_));
      from = spare;
      aside = true;
    }
    const Place to = complete ? s.result : aside && !converts ? from : area(result, s.result, aside ? 1 : 0);
    chain(writer_.emit_fft(s.stage, rest, from, part, to, result, before_));
    return to;
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

  void finish(const Op& op, const Place& from, const Box& part) {
    if (from.space == Space::output) return;
    store(op, from, output_.at(part), part, -1);
  }

  /// What is stored here is read again only after all else has been.
  void store(const Op& op, const Place& from, const Operand& to, const Box& box, int to_rank) {
    if (chain(writer_.emit_copy(op, from, to, box, to_rank, before_)) < 0) return;
    p_.copies.back().store_past = large();
  }

  const Schedule& schedule_;
  const std::vector<ReshapeChoice>& choices_;
  const ProgramRequest& request_;
  int rank_;
  Placement place_;
  OpWriter writer_;
  Program& p_;
  Place input_, output_;
  std::vector<Segment> segments_;
  std::vector<std::map<int, Place>> landings_;
  Index scratch_bytes_ = 0;  ///< of one of the two scratch areas
  Index areas_ = 0;          ///< how many of them are used
  Ids before_;               ///< the newest operation
  int awaited_ = 0;          ///< tiles of the reshape before the present segment
};

}  // namespace

std::vector<Box> sub_tiles(const Box& part, const Order& order, const AxisVector<int>& transformed,
                           int element_bytes, Index bytes) {
  if (part.empty()) return {};
  Shape thickness = part.extents();
  const int fastest = order[order.size() - 1];
  for (int a : order) {
    const Index size = Box{Shape(part.ndim(), 0), thickness}.count() * element_bytes;
    if (size <= bytes) break;
    if (transformed.contains(a)) continue;
    const Index layer = size / thickness[a];
    const Index least = a == fastest ? std::max<Index>(1, shortest_run / element_bytes) : 1;
    const Index wanted = std::clamp(bytes / layer, std::min(least, thickness[a]), thickness[a]);
    const Index pieces = (thickness[a] + wanted - 1) / wanted;
    thickness[a] = (thickness[a] + pieces - 1) / pieces;
    if (a == fastest) {  // whole cache lines
      const Index unit = std::max<Index>(1, line_bytes / element_bytes);
      thickness[a] = std::min(part.extent(a), (thickness[a] + unit - 1) / unit * unit);
    }
  }
  std::vector<Box> boxes;
  Box box = part;
  for (int a = 0; a < part.ndim(); ++a) box.hi[a] = std::min(part.hi[a], part.lo[a] + thickness[a]);
  for (;;) {
    boxes.push_back(box);
    int i = order.size() - 1;
    for (; i >= 0; --i) {
      const int a = order[i];
      if (box.hi[a] < part.hi[a]) {
        box.lo[a] = box.hi[a];
        box.hi[a] = std::min(part.hi[a], box.lo[a] + thickness[a]);
        break;
      }
      box.lo[a] = part.lo[a];
      box.hi[a] = std::min(part.hi[a], part.lo[a] + thickness[a]);
    }
    if (i < 0) return boxes;
  }
}

Program build_planes(const Schedule& schedule, const std::vector<ReshapeChoice>& choices,
                     const ProgramRequest& request) {
  return Planes(schedule, choices, request).build();
}

std::optional<Program> build_alone(const Schedule& schedule, const ProgramRequest& request) {
  static const std::vector<ReshapeChoice> none;
  Planes planes(schedule, none, request);
  if (!planes.pays_alone()) return std::nullopt;
  return planes.build_alone();
}

}  // namespace weft
