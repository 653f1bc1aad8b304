#include "program/builder.hpp"

#include <algorithm>

#include "program/alone.hpp"
#include "program/building.hpp"
#include "program/padding.hpp"
#include "program/planes.hpp"

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
  };

  void build_reshape(int j) {
    Reshape r;
    r.j = j;
    r.last = j + 1 == place_.reshapes();
    r.tiles = place_.tiles(j, rank_);
    for (std::vector<Ids>* v : {&r.packed, &r.posted, &r.sent, &r.arrived})
      v->resize(static_cast<std::size_t>(r.tiles));
    p_.reshapes.push_back({choice(j), {place_.element_bytes(place_.field_before(j)), {}, choice(j).tiles}});
    p_.reshapes.back().messages.tiles.resize(static_cast<std::size_t>(r.tiles));
    for (int k = 0; k < r.tiles; ++k) {
      messages(r, k).send_start = place_.tile_offset(j, rank_, k);
      messages(r, k).receive_start = place_.staging_base(rank_) + messages(r, k).send_start;
    }
    open_landing(r);
    open_source(r);
    r.keeps = carry(r) == Carry::strided || (r.landing.space != Space::work && !request_.in_place);
    if (carry(r) == Carry::padded) pad(r);

    if (carry(r) == Carry::direct)
      for (int k = 0; k < r.tiles; ++k) {
        const Op op{.kind = OpKind::signal_free, .stage = place_.stage_of(j), .reshape = j, .tile = k};
        r.posted[static_cast<std::size_t>(k)] = {writer_.emit(op, r.landing_free)};
      }
    const int window = choice(j).window;
    for (int k = 0; k < r.tiles + window; ++k) {
      if (k < r.tiles) send(r, k);
      if (k >= window && k - window < r.tiles) receive(r, k - window);
      if (k < r.tiles && carry(r) != Carry::direct) post(r, k, window);
      if (k >= window && k - window < r.tiles) transform_received(r, k - window);
    }
    finish(r);
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
    const Box whole = place_.field_before(r.j).box(rank_);
    const Box part = place_.tile(r.j, rank_, k, whole);
    Ids ready = r.ready;
    if (!r.send_axes.empty() && !part.empty()) {
      const bool staged = !r.ready.empty();
      const Place& from = staged ? r.source : input_;
      const Box from_box = staged ? part : place_.tile(r.j, rank_, k, from.box);
      ready = {writer_.emit_fft(place_.fft_stage(0), r.send_axes, from, from_box, r.source, part, r.ready)};
    }
    std::vector<Overlap> parts = place_.field_after(r.j).tiling->overlaps(part);
    if (carry(r) == Carry::direct) {
      // Ring order, so that all ranks do not write to the same peer at the same time.
      const auto first =
          std::find_if(parts.begin(), parts.end(), [&](const Overlap& o) { return o.rank > rank_; });
      std::rotate(parts.begin(), first, parts.end());
      for (const Overlap& o : parts) put(r, k, o, ready);
    } else if (carry(r) == Carry::strided) {
      for (const Overlap& o : parts) {
        if (keep(r, k, o, ready)) continue;
        messages(r, k).sends.push_back({o.rank, 0, o.box.count() * r.source.element_bytes});
        messages(r, k).from.push_back({o.box, r.source.at(o.box), place_.field_after(r.j).order(o.rank)});
      }
      append(of(r.packed, k), ready);
    } else {
      Index offset = place_.tile_offset(r.j, rank_, k);
      for (const Overlap& o : parts) {
        if (keep(r, k, o, ready)) continue;
        const Index at = carry(r) == Carry::padded ? slot(r, k, o.rank, messages(r, k).send_start) : offset;
        offset += pack(r, k, o, at, ready);
      }
    }
    if (p_.in_place) append(input_readers_, of(r.packed, k));
  }

  Carry carry(const Reshape& r) const { return choice(r.j).carry; }

  /// The rank's own part goes straight to its place where that is no buffer of the exchange. False for parts
  /// that the exchange has to carry.
  bool keep(Reshape& r, int k, const Overlap& o, const Ids& ready) {
    if (!r.keeps || o.rank != rank_) return false;
    Ids deps = ready;
    append(deps, r.ready);
    append(deps, r.landing_free);
    const int id =
        writer_.emit_copy(op_of(r, OpKind::keep, k), r.source, r.landing.at(o.box), o.box, -1, deps);
    of(r.packed, k).push_back(id);
    return true;
  }

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

  /// On the wire a part is dense, in the memory order of its receiver.
  Operand wire(const Reshape& r, const Box& part, int receiver, Index offset) const {
    return {Space::work, offset, dense_strides(part.extents(), place_.field_after(r.j).order(receiver))};
  }

  Index pack(Reshape& r, int k, const Overlap& o, Index offset, const Ids& ready) {
    const Index bytes = o.box.count() * r.source.element_bytes;
    messages(r, k).sends.push_back({o.rank, offset, bytes});
    const int id = writer_.emit_copy(op_of(r, OpKind::pack, k, o.rank), r.source,
                                     wire(r, o.box, o.rank, offset), o.box, -1, ready);
    of(r.packed, k).push_back(id);
    return bytes;
  }

  void put(Reshape& r, int k, const Overlap& o, const Ids& ready) {
    const bool own = o.rank == rank_;
    messages(r, k).sends.push_back({o.rank, 0, o.box.count() * r.source.element_bytes});
    Ids deps = ready;
    append(deps, own ? r.landing_free : Ids{writer_.emit(op_of(r, OpKind::await_free, k, o.rank), {})});
    const int id = writer_.emit_copy(op_of(r, OpKind::put, k, o.rank), r.source,
                                     place_.landing(r.j, o.rank).at(o.box), o.box, own ? -1 : o.rank, deps);
    of(r.packed, k).push_back(id);
    if (!own) of(r.packed, k).push_back(writer_.emit(op_of(r, OpKind::signal_full, k, o.rank), {id}));
  }

  /// A tile is posted once it is packed and the tile `window` before it has been received.
  void post(Reshape& r, int k, int window) {
    Ids deps = of(r.packed, k);
    append(deps, r.ready);
    if (k > 0) append(deps, of(r.posted, k - 1));  // collective exchanges start in the same order everywhere
    if (k >= window) append(deps, of(r.arrived, k - window));
    if (carry(r) == Carry::strided) {  // it writes where the result belongs
      append(deps, r.landing_free);
      if (r.landing.space != Space::work) append(deps, input_readers_);
    }
    of(r.posted, k) = {writer_.emit(op_of(r, OpKind::post, k), deps)};
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
      const Box landing = place_.tile(r.j, rank_, k, r.landing.box);
      const Span span = span_of(r.landing.at(landing), landing.extents(), r.landing.element_bytes);
      messages(r, k).landing = {span.first, span.last};
      for (const Overlap& o : parts) {
        messages(r, k).receives.push_back({o.rank, 0, o.box.count() * r.landing.element_bytes});
        if (o.rank == rank_) continue;
        Ids deps = of(r.posted, k);
        append(deps, of(r.packed, k));  // never wait before having given
        of(r.arrived, k).push_back(writer_.emit(op_of(r, OpKind::await_full, k, o.rank), deps));
      }
      append(of(r.arrived, k), of(r.packed, k));
      return;
    }
    if (carry(r) == Carry::strided) {
      receive_strided(r, k, parts);
      return;
    }
    // Unless results go straight to the user, they are unpacked over the send buffers of the tile.
    const bool over_sends = r.landing.space == Space::work;
    if (over_sends) of(r.sent, k) = {writer_.emit(op_of(r, OpKind::wait_sent, k), of(r.posted, k))};
    Op op = op_of(r, OpKind::receive, k);
    op.count = static_cast<int>(parts.size());
    Ids deps{writer_.emit(op, of(r.posted, k))};
    append(deps, of(r.sent, k));
    if (!over_sends) append(deps, input_readers_);
    Index offset = place_.staging_base(rank_) + place_.tile_offset(r.j, rank_, k);
    for (const Overlap& o : parts) {
      const Index bytes = o.box.count() * r.landing.element_bytes;
      const Index at = carry(r) == Carry::padded ? slot(r, k, o.rank, messages(r, k).receive_start) : offset;
      messages(r, k).receives.push_back({o.rank, at, bytes});
      of(r.arrived, k)
          .push_back(writer_.emit_copy(op_of(r, OpKind::unpack, k, o.rank), wire(r, o.box, rank_, at),
                                       r.landing.at(o.box), o.box, r.landing.element_bytes, -1, deps));
      offset += bytes;
    }
    if (parts.empty()) of(r.arrived, k) = deps;
    if (!over_sends) of(r.sent, k) = {writer_.emit(op_of(r, OpKind::wait_sent, k), of(r.posted, k))};
    append(of(r.arrived, k), of(r.sent, k));
    if (r.keeps) append(of(r.arrived, k), of(r.packed, k));
  }

  /// Nothing to unpack: the parts arrive where they belong.
  void receive_strided(Reshape& r, int k, const std::vector<Overlap>& parts) {
    for (const Overlap& o : parts) {
      messages(r, k).receives.push_back({o.rank, 0, o.box.count() * r.landing.element_bytes});
      messages(r, k).to.push_back({o.box, r.landing.at(o.box), place_.field_after(r.j).order(rank_)});
    }
    of(r.sent, k) = {writer_.emit(op_of(r, OpKind::wait_sent, k), of(r.posted, k))};
    of(r.arrived, k) = {writer_.emit(op_of(r, OpKind::receive, k), of(r.posted, k))};
    append(of(r.arrived, k), of(r.sent, k));
    append(of(r.arrived, k), of(r.packed, k));
  }

  /// The part of the last FFT, or of the last copy, that works tile by tile.
  void transform_received(Reshape& r, int k) {
    const int stage = place_.fft_stage(r.j + 1);
    if (!r.last || (stage < 0 && r.landing.space != Space::work)) return;
    const Box part = place_.tile(r.j, rank_, k, r.landing.box);
    Ids deps = of(r.arrived, k);
    append(deps, input_readers_);
    if (stage < 0) {
      writer_.emit_copy(op_of(r, OpKind::copy, k), r.landing, output_.at(part), part, -1, deps);
    } else if (!r.receive_axes.empty()) {
      const bool final_pass = r.finish_axes.empty();
      const Place& to = final_pass ? output_ : r.landing;
      const Box to_box = final_pass ? place_.tile(r.j, rank_, k, output_.box) : part;
      of(r.arrived, k).push_back(writer_.emit_fft(stage, r.receive_axes, r.landing, part, to, to_box, deps));
    }
  }

  void finish(Reshape& r) {
    landed_ = r.landing;
    landed_ids_ = r.ready;
    for (int k = 0; k < r.tiles; ++k) {
      append(landed_ids_, of(r.arrived, k));
      append(landed_ids_, of(r.packed, k));
    }
    if (r.last && !r.finish_axes.empty())
      writer_.transform_whole(place_.fft_stage(r.j + 1), r.finish_axes, r.landing, output_, r.landing,
                              landed_ids_);
  }

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
