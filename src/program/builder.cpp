#include "program/builder.hpp"

#include "program/alone.hpp"
#include "program/planes.hpp"
#include "program/reshape_builder.hpp"

namespace weft {

namespace {

class Builder : ReshapeBuilder {
 public:
  using ReshapeBuilder::ReshapeBuilder;

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

  void build_reshape(int j) {
    Reshape r;
    r.j = j;
    r.last = j + 1 == place_.reshapes();
    r.tiles = place_.tiles(j, rank_);
    r.tiles_per_item = place_.tiles_per_item(j, rank_);
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
