#include "program/builder.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "program/alone.hpp"
#include "program/building.hpp"
#include "program/padding.hpp"
#include "program/planes.hpp"
#include "program/sub_tiles.hpp"

namespace weft {

namespace {

/// Which axes of a local FFT can be done tile by tile, and which need the whole box because the tiles cut one
/// of them. The real axis has to be transformed first going forward and last going backward.
struct AxisSplit {
  AxisVector<int> whole, tile;
};

AxisSplit split_axes(const Stage& stage, int cut, bool sends) {
  if (cut < 0 || !stage.axes.contains(cut)) return {{}, stage.axes};
  const bool is_r2c = stage.direction == Direction::forward;
  if (stage.real_axis >= 0 && is_r2c != sends) return {stage.axes, {}};
  AxisSplit s;
  for (int a : stage.axes) (a == cut || a == stage.real_axis ? s.whole : s.tile).push_back(a);
  return s;
}

class Builder : Building {
 public:
  using Building::Building;

  Program build() {
    if (place_.reshapes() == 0) {
      build_local();
    } else {
      for (int j = 0; j < place_.reshapes(); ++j) build_reshape(j);
    }
    p_.workspace_bytes = aligned(workspace_end(p_));
    return std::move(p_);
  }

 private:
  /// The start of the workspace, in the memory order of `like`, without its gaps.
  static Place dense_work(const Place& like) {
    Place p = like;
    p.space = Space::work;
    p.base = 0;
    p.strides = dense_strides(like.box.extents(), order_of(like.strides));
    return p;
  }

  void build_local() {
    const Stage& s = schedule_.stages.front();
    const bool same = lie_alike(input_, output_, schedule_.transforms);
    if (!request_.in_place || (same && !s.axes.empty())) {
      writer_.transform_whole(0, s.axes, input_, output_, dense_work(input_), {});
    } else if (!same) {
      const Place aside = dense_work(output_);
      const Ids done = writer_.transform_whole(0, s.axes, input_, aside, aside, {});
      writer_.emit_copy({.kind = OpKind::copy, .stage = 0}, aside, output_.at(output_.box), output_.box, -1,
                        done);
    }
  }

  struct Reshape {
    int j = 0, tiles = 0;
    bool last = false;
    Place source, landing;
    AxisVector<int> send_axes, receive_axes, finish_axes;  ///< per tile before, per tile after, whole after
    Ids ready;                                             ///< operations that made the whole source
    Ids landing_free;  ///< operations after which the landing half holds nothing needed
    std::vector<Ids> packed, posted, sent, arrived;  ///< per tile
    std::vector<int> members;                        ///< padded: of the exchange group
    bool keeps = false;                              ///< its own part does not go through the exchange
    bool on_arrival = false;                         ///< parts are unpacked one by one as they arrive
  };

  void build_reshape(int j) {
    Reshape r;
    r.j = j;
    r.last = j + 1 == place_.reshapes();
    r.tiles = place_.tiles(j, rank_);
    cut_axis_ = choice(j).axis;
    for (std::vector<Ids>* v : {&r.packed, &r.posted, &r.sent, &r.arrived})
      v->resize(static_cast<std::size_t>(r.tiles));
    p_.reshapes.push_back({choice(j), {place_.element_bytes(place_.field_before(j)), {}, choice(j).tiles}});
    p_.reshapes.back().messages.tiles.resize(static_cast<std::size_t>(r.tiles));
    for (int k = 0; k < r.tiles; ++k) {
      messages(r, k).send_start = place_.tile_offset(j, rank_, k);
      messages(r, k).receive_start = place_.staging_base(rank_) + messages(r, k).send_start;
    }
    if (carry(r) == Carry::direct) open_far(r);
    open_landing(r);
    open_source(r);
    r.keeps = carry(r) == Carry::strided || (r.landing.space != Space::work && !request_.in_place);
    r.on_arrival = carry(r) != Carry::direct && carry(r) != Carry::strided && choice(j).hides_after &&
                   !choice(j).after.cut();
    if (carry(r) == Carry::padded) pad(r);
    if (carry(r) == Carry::direct)
      for (int k = 0; k < r.tiles; ++k) {
        const Op op{.kind = OpKind::signal_free, .stage = place_.stage_of(j), .reshape = j, .tile = k};
        r.posted[static_cast<std::size_t>(k)] = {writer_.emit(op, r.landing_free)};
      }
    run_tiles(r);
    finish(r);
  }

  /// overlap-autotuned-3d-fft, Algorithm 1. A window of 0 waits for each tile before it does anything else.
  void run_tiles(Reshape& r) {
    const int window = choice(r.j).window;
    for (int k = 0; k < r.tiles + window; ++k) {
      const int back = k - window;
      const bool sends = k < r.tiles, receives = back >= 0 && back < r.tiles;
      if (sends) send(r, k);
      if (receives && window > 0) receive(r, back);
      if (sends) post(r, k, window);
      if (receives && window == 0) receive(r, back);
      if (receives && choice(r.j).hides_after) transform_received(r, back);
    }
    if (!choice(r.j).hides_after)
      for (int k = 0; k < r.tiles; ++k) transform_received(r, k);
  }

  /// The source of a reshape, whole or, where the first FFT can be done tile by tile, the place for it.
  void open_source(Reshape& r) {
    const int stage = place_.fft_stage(r.j);
    const Place staging = place_.staging(r.j, rank_);
    if (r.j > 0) {
      const AxisVector<int> axes =
          stage >= 0 ? schedule_.stages[static_cast<std::size_t>(stage)].axes : AxisVector<int>{};
      if (carry(r) == Carry::strided && r.landing.space != Space::work &&
          landed_.element_bytes == staging.element_bytes) {
        // Nothing is received in the workspace, so the array stays where it is.
        r.source = landed_;
        r.ready = landed_ids_;
        if (stage >= 0 && !landed_.box.empty())
          r.ready = writer_.transform_whole(stage, axes, landed_, landed_, landed_, landed_ids_);
        return;
      }
      r.source = staging;
      // Without an FFT in between, as among bricks, it is a copy, and counts to the reshape that it precedes.
      r.ready = writer_.transform_whole(stage >= 0 ? stage : place_.stage_of(r.j), axes, landed_, staging,
                                        staging, landed_ids_);
      if (r.ready.back() < 0) r.ready = landed_ids_;  // a rank without points here
      r.landing_free = r.ready;
      return;
    }
    // Writing tiles of the result over an input that is still being read has to be avoided in place.
    const bool reads_while_writing = carry(r) == Carry::strided && place_.fft_stage(r.j + 1) < 0;
    const bool aside = request_.in_place && r.last && (r.tiles > 1 || reads_while_writing);
    if (stage < 0) {
      r.source = aside ? staging : input_;
      if (aside) r.ready = writer_.transform_whole(place_.stage_of(r.j), {}, input_, staging, staging, {});
      return;
    }
    const Stage& s = schedule_.stages[static_cast<std::size_t>(stage)];
    AxisSplit axes = split_axes(s, choice(r.j).axis, true);
    const bool c2r = s.real_axis >= 0 && s.direction == Direction::backward;
    if (aside || (c2r && s.axes.size() > 1)) axes = {s.axes, {}};
    r.source = staging;
    r.send_axes = axes.tile;
    if (axes.whole.empty()) return;
    r.ready = writer_.transform_whole(stage, axes.whole, input_, staging, dense_work(input_), {});
    same_in_all_trials(r.ready);
    if (r.ready.size() > 1) r.landing_free = r.ready;
  }

  /// Where the result lands, and what is left to do with it. What is unpacked last of all goes straight to
  /// the user.
  void open_landing(Reshape& r) {
    r.landing = place_.landing(r.j, rank_);
    if (!r.last) return;
    const int stage = place_.fft_stage(r.j + 1);
    if (stage < 0) {
      if (carry(r) != Carry::direct) r.landing = output_;
      return;
    }
    const AxisSplit axes =
        split_axes(schedule_.stages[static_cast<std::size_t>(stage)], choice(r.j).axis, false);
    r.receive_axes = axes.tile;
    r.finish_axes = axes.whole;
    // What the last FFT neither converts nor permutes lands in the user's array and is transformed there.
    const bool stays = output_.element_bytes == r.landing.element_bytes &&
                       order_of(output_.strides) == place_.field_after(r.j).order(rank_);
    if (stays && !request_.in_place && carry(r) != Carry::direct) r.landing = output_;
  }

  Ids& of(std::vector<Ids>& per_tile, int k) { return per_tile[static_cast<std::size_t>(k)]; }

  static void append(Ids& to, const Ids& more) { to.insert(to.end(), more.begin(), more.end()); }

  void send(Reshape& r, int k) {
    const Box part = place_.tile(r.j, rank_, k, place_.field_before(r.j).box(rank_));
    std::vector<Overlap> parts = place_.field_after(r.j).tiling->overlaps(part);
    // Ring order, so that all ranks do not write to the same peer at the same time.
    if (carry(r) == Carry::direct) {
      const auto first =
          std::find_if(parts.begin(), parts.end(), [&](const Overlap& o) { return o.rank > rank_; });
      std::rotate(parts.begin(), first, parts.end());
    }
    const std::vector<Place> targets = open_sends(r, k, parts);
    Ids ffts, copies;
    for (const Box& sub : sub_boxes(part, choice(r.j).before)) {
      Ids ready = r.ready;
      if (!r.send_axes.empty() && !sub.empty()) {
        const bool staged = !r.ready.empty();
        const Place& from = staged ? r.source : input_;
        ready = transform_part(place_.fft_stage(0), r.send_axes, from, r.source, sub, r.ready,
                               choice(r.j).before.fft_tests / tile_parts(part, choice(r.j).before));
        append(ffts, ready);
      }
      append(of(r.packed, k), ready);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const Box box = intersect(sub, parts[i].box);
        if (!box.empty() && targets[i].element_bytes > 0)
          append(copies, copy_out(r, k, parts[i].rank, targets[i], box, ready));
      }
    }
    test_while(ffts, choice(r.j).before.fft_tests);
    test_while(copies, choice(r.j).before.copy_tests);
    append(of(r.packed, k), copies);
    if (carry(r) == Carry::direct) tell(r, k, parts, copies);
    if (p_.in_place) append(input_readers_, of(r.packed, k));
  }

  /// Notes what a tile sends; returns where each part is to be copied, or nothing that has a size for what is
  /// sent from where it lies.
  std::vector<Place> open_sends(Reshape& r, int k, const std::vector<Overlap>& parts) {
    std::vector<Place> targets;
    Index offset = place_.tile_offset(r.j, rank_, k);
    for (const Overlap& o : parts) {
      const Message message{o.rank, 0, o.box.count() * r.source.element_bytes};
      targets.emplace_back();
      if (r.keeps && o.rank == rank_) {
        targets.back() = r.landing;
      } else if (carry(r) == Carry::strided || (carry(r) == Carry::direct && !near(o.rank))) {
        TileMessages& m = carry(r) == Carry::strided ? messages(r, k) : far(r, k);
        m.sends.push_back(message);
        m.from.push_back({o.box, r.source.at(o.box), place_.field_after(r.j).order(o.rank)});
      } else if (carry(r) == Carry::direct) {
        messages(r, k).sends.push_back(message);
        targets.back() = place_.landing(r.j, o.rank);
      } else {
        const Index at = carry(r) == Carry::padded ? slot(r, k, o.rank, messages(r, k).send_start) : offset;
        messages(r, k).sends.push_back({o.rank, at, message.bytes});
        targets.back() = wire(r, o.box, o.rank, at, r.source);
        offset += message.bytes;
      }
    }
    return targets;
  }

  /// Brings a piece of what the tile sends to a rank on its way.
  Ids copy_out(Reshape& r, int k, int rank, const Place& target, const Box& box, const Ids& ready) {
    Ids deps = ready;
    append(deps, r.ready);
    const bool own = rank == rank_, direct = carry(r) == Carry::direct;
    if (own && (direct || r.keeps)) append(deps, r.landing_free);
    if (direct && !own) append(deps, room(r, k, rank));
    const OpKind kind = direct ? OpKind::put : own && r.keeps ? OpKind::keep : OpKind::pack;
    const int peer = kind == OpKind::keep ? -1 : rank;
    const int to_rank = direct && !own ? rank : -1;
    return {writer_.emit_copy(op_of(r, kind, k, peer), r.source, target.at(box), box, to_rank, deps)};
  }

  /// Direct: the peer's leave to put a tile, awaited once.
  Ids room(Reshape& r, int k, int peer) {
    const auto known = rooms_.find({r.j, k, peer});
    if (known != rooms_.end()) return {known->second};
    const int id = writer_.emit(op_of(r, OpKind::await_free, k, peer), {});
    rooms_[{r.j, k, peer}] = id;
    return {id};
  }

  void tell(Reshape& r, int k, const std::vector<Overlap>& parts, const Ids& copies) {
    for (const Overlap& o : parts)
      if (o.rank != rank_ && near(o.rank))
        of(r.packed, k).push_back(writer_.emit(op_of(r, OpKind::signal_full, k, o.rank), copies));
  }

  /// The parts of a tile that pass through the cache together.
  std::vector<Box> sub_boxes(const Box& part, const TileSide& side) const {
    std::vector<Box> boxes{part};
    const auto split = [&](int axis, Index by) {
      if (axis < 0 || by <= 0) return;
      std::vector<Box> finer;
      for (const Box& b : boxes)
        for (Index lo = b.lo[axis]; lo < b.hi[axis] || lo == b.lo[axis]; lo += by) {
          finer.push_back(b);
          finer.back().lo[axis] = lo;
          finer.back().hi[axis] = std::min(b.hi[axis], lo + by);
        }
      boxes = std::move(finer);
    };
    split(cut_axis_, side.along_by);
    split(side.cross, side.cross_by);
    return boxes;
  }
  int tile_parts(const Box& part, const TileSide& side) const {
    return static_cast<int>(sub_boxes(part, side).size());
  }

  /// Transforms a part of a tile, in so many calls or one more, between which the exchange can move on.
  Ids transform_part(int stage, const AxisVector<int>& axes, const Place& from, const Place& to,
                     const Box& part, const Ids& deps, int calls) {
    Ids done;
    const Box from_box = same_cut(part, from.box, axes), to_box = same_cut(part, to.box, axes);
    int longest = -1;
    for (int a = 0; a < part.ndim(); ++a)
      if (!axes.contains(a) && (longest < 0 || part.extent(a) > part.extent(longest))) longest = a;
    const Index n = longest < 0 ? 1 : part.extent(longest);
    const Index pieces = std::clamp<Index>(calls, 1, std::max<Index>(n, 1));
    for (Index i = 0; i < pieces; ++i) {
      Box from_piece = from_box, to_piece = to_box;
      if (pieces > 1)
        for (Box* b : {&from_piece, &to_piece}) {
          b->lo[longest] = part.lo[longest] + i * n / pieces;
          b->hi[longest] = part.lo[longest] + (i + 1) * n / pieces;
        }
      done.push_back(writer_.emit_fft(stage, axes, from, from_piece, to, to_piece, deps));
    }
    return done;
  }

  /// Spreads calls into the exchange evenly over operations.
  void test_while(const Ids& operations, int tests) {
    if (tests < 0) return;
    const auto n = static_cast<int>(operations.size());
    for (int i = 0; i < n; ++i) {
      const int id = operations[static_cast<std::size_t>(i)];
      if (id >= 0) p_.ops[static_cast<std::size_t>(id)].tests = (i + 1) * tests / n - i * tests / n;
    }
  }

  void same_in_all_trials(const Ids& operations) {
    for (int id : operations)
      if (id >= 0) p_.ops[static_cast<std::size_t>(id)].invariant = true;
  }

  Carry carry(const Reshape& r) const { return choice(r.j).carry; }

  void pad(Reshape& r) {
    const std::vector<int> groups =
        exchange_groups(*place_.field_before(r.j).tiling, *place_.field_after(r.j).tiling);
    r.members = members_of(groups, rank_);
    for (int k = 0; k < r.tiles; ++k) {
      TileMessages& m = messages(r, k);
      m.padded_bytes = padded_bytes(place_, r.j, k, r.members);
      m.padded_parts = static_cast<int>(r.members.size());
    }
  }

  /// Where the part of a member of the group lies in a padded tile that starts at `start`.
  Index slot(const Reshape& r, int k, int member, Index start) {
    const auto at = std::lower_bound(r.members.begin(), r.members.end(), member) - r.members.begin();
    return start + at * messages(r, k).padded_bytes;
  }

  Op op_of(const Reshape& r, OpKind kind, int k, int peer = -1) const {
    return Building::op_of(r.j, kind, k, peer);
  }

  TileMessages& messages(const Reshape& r, int k) {
    return p_.reshapes[static_cast<std::size_t>(r.j)].messages.tiles[static_cast<std::size_t>(k)];
  }
  TileMessages& far(const Reshape& r, int k) {
    return p_.reshapes[static_cast<std::size_t>(r.j)].far.tiles[static_cast<std::size_t>(k)];
  }

  /// Beside a direct exchange, what ranks of other machines send and are sent goes without packing.
  void open_far(const Reshape& r) {
    ReshapeProgram& p = p_.reshapes.back();
    p.far = {p.messages.element_bytes, {}, p.messages.most_tiles};
    p.far.tiles.resize(p.messages.tiles.size());
    const Place landing = place_.landing(r.j, rank_);
    for (int k = 0; k < r.tiles; ++k)
      for (const Overlap& o : incoming(r, k)) {
        if (near(o.rank)) continue;
        far(r, k).receives.push_back({o.rank, 0, o.box.count() * landing.element_bytes});
        far(r, k).to.push_back({o.box, landing.at(o.box), place_.field_after(r.j).order(rank_)});
      }
  }
  bool posts(const Reshape& r, int k) {
    return carry(r) != Carry::direct || !far(r, k).sends.empty() || !far(r, k).receives.empty();
  }

  /// On the wire a part is dense, in the memory order of its receiver.
  Place wire(const Reshape& r, const Box& part, int receiver, Index offset, const Place& like) const {
    return {Space::work,
            offset,
            part,
            dense_strides(part.extents(), place_.field_after(r.j).order(receiver)),
            like.element_bytes,
            like.element};
  }

  /// A tile is posted once it is packed and the tile `window` before it has been received.
  void post(Reshape& r, int k, int window) {
    if (!posts(r, k)) return;
    Ids deps = of(r.packed, k);
    append(deps, r.ready);
    // Collective exchanges start in the same order everywhere.
    if (k > 0) append(deps, of(r.posted, k - 1));
    if (window > 0 && k >= window) append(deps, of(r.arrived, k - window));
    if (window == 0 && k > 0) append(deps, of(r.arrived, k - 1));
    if (carry(r) == Carry::strided || carry(r) == Carry::direct) {  // it writes where the result belongs
      append(deps, r.landing_free);
      if (r.landing.space != Space::work) append(deps, input_readers_);
    }
    // The flags of a direct exchange are behind what `posted` holds already.
    of(r.posted, k).push_back(writer_.emit(op_of(r, OpKind::post, k), deps));
  }

  std::vector<Overlap> incoming(const Reshape& r, int k) const {
    const Box part = place_.tile(r.j, rank_, k, place_.field_after(r.j).box(rank_));
    std::vector<Overlap> parts = place_.field_before(r.j).tiling->overlaps(part);
    if (r.keeps) std::erase_if(parts, [&](const Overlap& o) { return o.rank == rank_; });
    return parts;
  }

  void receive(Reshape& r, int k) {
    const std::vector<Overlap> parts = incoming(r, k);
    if (carry(r) == Carry::direct) {
      await_parts(r, k, parts);
      return;
    }
    if (carry(r) == Carry::strided) {
      for (const Overlap& o : parts) {
        messages(r, k).receives.push_back({o.rank, 0, o.box.count() * r.landing.element_bytes});
        messages(r, k).to.push_back({o.box, r.landing.at(o.box), place_.field_after(r.j).order(rank_)});
      }
      complete(r, k);
      return;
    }
    Index offset = place_.staging_base(rank_) + place_.tile_offset(r.j, rank_, k);
    for (const Overlap& o : parts) {
      const Index bytes = o.box.count() * r.landing.element_bytes;
      const Index at = carry(r) == Carry::padded ? slot(r, k, o.rank, messages(r, k).receive_start) : offset;
      messages(r, k).receives.push_back({o.rank, at, bytes});
      offset += bytes;
    }
    // Unless results go straight to the user, they are unpacked over the send buffers of the tile.
    const bool over_sends = r.landing.space == Space::work;
    if (over_sends) of(r.sent, k) = {writer_.emit(op_of(r, OpKind::wait_sent, k), of(r.posted, k))};
    Op op = op_of(r, OpKind::receive, k);
    op.count = r.on_arrival ? static_cast<int>(parts.size()) : 0;
    of(r.arrived, k) = {writer_.emit(op, of(r.posted, k))};
    append(of(r.arrived, k), of(r.sent, k));
    if (r.on_arrival) {
      const Ids copies = unpack(r, k, place_.field_after(r.j).box(rank_));
      test_while(copies, choice(r.j).after.copy_tests);
      append(of(r.arrived, k), copies);
    }
    if (!over_sends) of(r.sent, k) = {writer_.emit(op_of(r, OpKind::wait_sent, k), of(r.posted, k))};
    append(of(r.arrived, k), of(r.sent, k));
    if (r.keeps) append(of(r.arrived, k), of(r.packed, k));
  }

  /// Direct: waits for what peers put, and other machines send.
  void await_parts(Reshape& r, int k, const std::vector<Overlap>& parts) {
    const Box landing = place_.tile(r.j, rank_, k, r.landing.box);
    const Span span = span_of(r.landing.at(landing), landing.extents(), r.landing.element_bytes);
    messages(r, k).landing = {span.first, span.last};
    for (const Overlap& o : parts) {
      if (!near(o.rank)) continue;
      messages(r, k).receives.push_back({o.rank, 0, o.box.count() * r.landing.element_bytes});
      if (o.rank == rank_) continue;
      Ids deps = of(r.posted, k);
      append(deps, of(r.packed, k));  // never wait before having given
      of(r.arrived, k).push_back(writer_.emit(op_of(r, OpKind::await_full, k, o.rank), deps));
    }
    if (posts(r, k)) complete(r, k);
    append(of(r.arrived, k), of(r.packed, k));
  }

  /// Nothing to unpack: the parts arrive where they belong.
  void complete(Reshape& r, int k) {
    of(r.sent, k) = {writer_.emit(op_of(r, OpKind::wait_sent, k), of(r.posted, k))};
    of(r.arrived, k).push_back(writer_.emit(op_of(r, OpKind::receive, k), of(r.posted, k)));
    append(of(r.arrived, k), of(r.sent, k));
    append(of(r.arrived, k), of(r.packed, k));
  }

  /// Unpacks what has arrived of a tile, as far as it lies in `within`.
  Ids unpack(Reshape& r, int k, const Box& within) {
    Ids deps = of(r.arrived, k), copies;
    if (r.landing.space != Space::work) append(deps, input_readers_);
    for (const Overlap& o : incoming(r, k)) {
      const Box box = intersect(o.box, within);
      if (box.empty()) continue;
      const auto& receives = messages(r, k).receives;
      const auto m = std::find_if(receives.begin(), receives.end(),
                                  [&](const Message& message) { return message.peer == o.rank; });
      const Place from = wire(r, o.box, rank_, m->offset, r.landing);
      copies.push_back(
          writer_.emit_copy(op_of(r, OpKind::unpack, k, o.rank), from, r.landing.at(box), box, -1, deps));
    }
    return copies;
  }

  /// What works tile by tile behind the exchange: unpacking, unless that is done on arrival, and the last FFT
  /// or the last copy.
  void transform_received(Reshape& r, int k) {
    const int stage = place_.fft_stage(r.j + 1);
    const Box part = place_.tile(r.j, rank_, k, r.landing.box);
    const TileSide& side = choice(r.j).after;
    const bool unpacks =
        carry(r) != Carry::direct && carry(r) != Carry::strided && !r.on_arrival && !part.empty();
    const bool transforms = r.last && stage >= 0 && !r.receive_axes.empty();
    const bool copies_out = r.last && stage < 0 && r.landing.space == Space::work;
    if (!unpacks && !transforms && !copies_out) return;
    const Ids arrived = of(r.arrived, k);
    Ids unpacked, ffts;
    const bool final_pass = r.finish_axes.empty();
    for (const Box& sub : sub_boxes(part, side)) {
      Ids deps = arrived;
      if (unpacks) {
        const Ids copies = unpack(r, k, sub);
        append(unpacked, copies);
        append(deps, copies);
      }
      append(deps, input_readers_);
      if (copies_out) {
        writer_.emit_copy(op_of(r, OpKind::copy, k), r.landing, output_.at(sub), sub, -1, deps);
      } else if (transforms) {
        append(ffts, transform_part(stage, r.receive_axes, r.landing, final_pass ? output_ : r.landing, sub,
                                    deps, side.fft_tests / tile_parts(part, side)));
      }
    }
    test_while(unpacked, side.copy_tests);
    test_while(ffts, side.fft_tests);
    append(of(r.arrived, k), unpacked);
    append(of(r.arrived, k), ffts);
  }

  void finish(Reshape& r) {
    landed_ = r.landing;
    landed_ids_ = r.ready;
    for (int k = 0; k < r.tiles; ++k) {
      append(landed_ids_, of(r.arrived, k));
      append(landed_ids_, of(r.packed, k));
    }
    if (r.last && !r.finish_axes.empty())
      same_in_all_trials(writer_.transform_whole(place_.fft_stage(r.j + 1), r.finish_axes, r.landing, output_,
                                                 r.landing, landed_ids_));
  }

  std::map<std::array<int, 3>, int> rooms_;  ///< direct: await_free of (reshape, tile, peer)
  int cut_axis_ = -1;                        ///< of the present reshape
  Place landed_;
  Ids landed_ids_;
  Ids input_readers_;  ///< in place: what has to be read before the first result is written
};

}  // namespace

Program build_program(const Schedule& schedule, const std::vector<ReshapeChoice>& choices,
                      const ProgramRequest& request) {
  if (!choices.empty() && choices.front().subtile > 0) return build_planes(schedule, choices, request);
  if (choices.empty())
    if (std::optional<Program> program = build_alone(schedule, request)) return *std::move(program);
  return Builder(schedule, choices, request).build();
}

}  // namespace weft
