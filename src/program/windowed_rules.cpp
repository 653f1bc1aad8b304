// Which axis pipelines windowed and th cut, on both sides of a reshape alike, and how.
#include <algorithm>
#include <tuple>

#include "program/pipeline_rules.hpp"

namespace weft {

namespace {

/// Whether an FFT can be done tile by tile along `axis`: one that ends the schedule and leaves the axis
/// alone. An FFT between two reshapes is done whole (ADR 0004).
bool tiled(const Schedule& s, int stage, int axis) {
  const int last = static_cast<int>(s.stages.size()) - 1;
  return (stage == 0 || stage == last) && !s.stages[static_cast<std::size_t>(stage)].axes.contains(axis);
}

/// Of such an FFT that transforms the axis together with others, the others can still be done tile by tile.
bool partly_tiled(const Schedule& s, int stage, int axis) {
  const int last = static_cast<int>(s.stages.size()) - 1;
  return (stage == 0 || stage == last) && s.stages[static_cast<std::size_t>(stage)].axes.size() > 1 &&
         s.stages[static_cast<std::size_t>(stage)].axes.contains(axis);
}

/// For every axis, whether each rank holds the same range of it as all ranks it sends to, and as itself
/// afterwards, so that one cut serves sender and receiver, and a tile's memory on one side serves the other.
std::vector<bool> shared_axes(const Tiling& from, const Tiling& to) {
  std::vector<bool> shared(static_cast<std::size_t>(from.shape().size()), true);
  const auto some_left = [&] {
    for (int a = 0; a < from.shape().size(); ++a)
      if (at(shared, a) && !(from.is_local(a) && to.is_local(a))) return true;
    return false;
  };
  const auto compare = [&](const Box& mine, const Box& theirs) {
    if (mine.empty() || theirs.empty()) return;
    for (int a = 0; a < mine.ndim(); ++a)
      if (mine.lo[a] != theirs.lo[a] || mine.hi[a] != theirs.hi[a])
        shared[static_cast<std::size_t>(a)] = false;
  };
  for (int r = 0; r < from.ranks() && some_left(); ++r) {
    const Box mine = from.box(r);
    compare(mine, to.box(r));
    for (const Overlap& o : to.overlaps(mine)) compare(mine, to.box(o.rank));
  }
  return shared;
}

/// How much of the FFTs on both sides of a reshape can hide an exchange whose tiles cut `axis`.
int hiding(const Schedule& s, int stage, int axis) {
  int score = 0;
  for (int neighbour : {stage - 1, stage + 1}) {
    if (neighbour < 0 || neighbour >= static_cast<int>(s.stages.size())) continue;
    score += tiled(s, neighbour, axis) ? 2 : partly_tiled(s, neighbour, axis) ? 1 : 0;
  }
  return score;
}

/// An axis that tiles may cut, and its largest extent on a rank.
struct CutAxis {
  int axis = -1;
  Index extent = 1;
};

/// Tiles of a batch are groups of whole items if that makes enough of them; else each item has tiles along
/// `inner`. Groups of several items are not cut further, whatever `tile` is: a tile is one piece of memory
/// (ADR 0003).
void cut_batch(Leg& leg, ParameterReader& read, const CutAxis& batch, const CutAxis& inner) {
  const bool cuts_items = inner.axis >= 0 && read.asked("tile").value_or(0) > 0;
  const Index items_rule = cuts_items ? 1 : divided_up<Index>(batch.extent, read.rules().tiles);
  Index items = read("items", items_rule, batch.extent, "the items on a rank");
  if (items == 0) items = items_rule;
  leg.axis = batch.axis;
  leg.tile = items;
  Index tiles = divided_up<Index>(batch.extent, items);
  if (inner.axis >= 0) {
    // Cutting items costs an FFT of several axes its unity: four items are tiles enough.
    const Index of_each = tiles >= 4 ? 1 : std::max<Index>(1, (read.rules().tiles + tiles / 2) / tiles);
    const Index rule = items > 1 ? inner.extent : divided_up<Index>(inner.extent, of_each);
    Index tile = read("tile", rule, inner.extent, extent_of(inner.axis));
    if (tile == 0) tile = rule;
    if (items == 1 && tile < inner.extent) {
      std::get<Windowed>(leg.cut).item_axis = batch.axis;
      leg.axis = inner.axis;
      leg.tile = tile;
      tiles *= divided_up<Index>(inner.extent, tile);
    }
  }
  set_tiles(leg, tiles);
}

/// More than there are tiles is as good as all of them.
int window(const Leg& leg, ParameterReader& read) {
  if (!read.rules().overlap) return 0;
  constexpr Index most = 1 << 20;
  return static_cast<int>(std::min<Index>(read("window", 2, most, "tiles in flight"), leg.tiles));
}

/// overlap-autotuned-3d-fft, Algorithm 1: the cut is along an axis that both sides of the exchange hold alike
/// and that the FFTs leave alone as far as possible. False, with the reason, if there is none.
bool cut_both_sides(const Schedule& s, int stage, ParameterReader& read, Leg& leg) {
  const Tiling& from = *s.fields[static_cast<std::size_t>(stage)].tiling;
  const Tiling& to = *s.fields[static_cast<std::size_t>(stage) + 1].tiling;
  const std::vector<bool> shared = shared_axes(from, to);
  CutAxis batch, inner;
  int best_hiding = 0;
  for (int a = 0; a < from.shape().size(); ++a) {
    const int score = hiding(s, stage, a);
    const Index extent = largest_extent(from, a);
    if (!shared[static_cast<std::size_t>(a)] || score == 0 || extent == 1) continue;
    // An operator gets all arrays of a batch together.
    const bool together = axes_of(s, stage - 1).contains(a) || axes_of(s, stage + 1).contains(a);
    if (a == s.batch_axis && together) continue;
    if (a == s.batch_axis) {
      batch = {a, extent};
    } else if (std::tie(score, extent) > std::tie(best_hiding, inner.extent)) {
      inner = {a, extent};
      best_hiding = score;
    }
  }
  if (batch.axis >= 0) {
    cut_batch(leg, read, batch, inner);
  } else if (inner.axis >= 0) {
    // Where a grid cuts the batch, items are not for tiles to cut, whatever was asked for all reshapes.
    if (s.batch_axis < 0 && read.asked("items")) read("items", 1, 1, "as there is no batch");
    cut(leg, read, inner.axis, inner.extent);
  } else {
    leg.reason =
        "one tile: no axis is held alike before and after the exchange and left alone by an FFT beside it";
    return false;
  }
  leg.window = window(leg, read);
  return true;
}

/// "behind both FFTs"
std::string hidden_behind(const Schedule& s, int stage, const Leg& leg) {
  if (leg.window == 0) return "no overlap";
  const auto hides = [&](int neighbour) {
    const auto by = [&](int axis) {
      return axis >= 0 && (tiled(s, neighbour, axis) || partly_tiled(s, neighbour, axis));
    };
    return neighbour >= 0 && neighbour < static_cast<int>(s.stages.size()) &&
           (by(leg.axis) || by(leg.item_axis()));
  };
  const bool before = hides(stage - 1), after = leg.windowed().hides_after && hides(stage + 1);
  return before && after ? "behind both FFTs"
         : before        ? "behind the FFT before it"
         : after         ? "behind the FFT after it"
                         : "behind copies";
}

/// Whole tiles move by themselves once they are under way: a parameter of their parts is nothing to
/// be tried.
bool without_parts(const ParameterReader& read, const char* name) {
  return read.rules().whole_tiles() && !read.asked(name);
}

int tests(ParameterReader& read, const char* name) {
  if (!read.rules().overlap) return 0;
  if (without_parts(read, name)) return -1;
  return static_cast<int>(read(name, -1, 1 << 20, "calls for a tile"));
}

/// The names, in the overlap paper, of what one side of an exchange has.
struct SideNames {
  const char *cross, *along, *fft, *copy;
};
constexpr SideNames packing{"px", "pz", "fy", "fp"}, unpacking{"uy", "uz", "fx", "fu"};

/// The axis that sub-tiles cut beside those of the tiles: the longest that the FFT leaves alone.
int cross_axis(const Schedule& s, int stage, const Tiling& tiling, const Leg& leg) {
  int best = -1;
  Index longest = 1;
  for (int a = 0; a < tiling.shape().size(); ++a) {
    const bool transformed = stage >= 0 && stage < static_cast<int>(s.stages.size()) &&
                             s.stages[static_cast<std::size_t>(stage)].axes.contains(a);
    const bool cut = a == leg.axis || a == leg.item_axis();
    if (cut || transformed || largest_extent(tiling, a) <= longest) continue;
    best = a;
    longest = largest_extent(tiling, a);
  }
  return best;
}

TileSide side(const Schedule& s, int stage, const Tiling& tiling, const SideNames& names, const Leg& leg,
              ParameterReader& read) {
  TileSide t;
  t.cross = cross_axis(s, stage, tiling, leg);
  if (t.cross >= 0 && !without_parts(read, names.cross))
    t.cross_by = read(names.cross, 0, largest_extent(tiling, t.cross), extent_of(t.cross));
  if (!without_parts(read, names.along))
    t.along_by = read(names.along, 0, leg.tile, "the thickness of a tile");
  t.fft_tests = tests(read, names.fft);
  t.copy_tests = tests(read, names.copy);
  return t;
}

}  // namespace

void choose_windowed(const Schedule& s, int reshape, ParameterReader& read, Leg& leg) {
  const int stage = reshape_stages(s)[static_cast<std::size_t>(reshape)];
  if (!cut_both_sides(s, stage, read, leg)) return;
  const TileSide before = side(s, stage - 1, *s.fields[static_cast<std::size_t>(stage)].tiling,
                               s.mirrored ? unpacking : packing, leg, read);
  const TileSide after = side(s, stage + 1, *s.fields[static_cast<std::size_t>(stage) + 1].tiling,
                              s.mirrored ? packing : unpacking, leg, read);
  std::get<Windowed>(leg.cut).before = before;
  std::get<Windowed>(leg.cut).after = after;
  leg.reason = hidden_behind(s, stage, leg);
}

/// The same as Hoefler et al. have it, according to the overlap paper, section 5.1: only what comes before
/// the exchange hides it, in one loop over whole tiles.
void choose_th(const Schedule& s, int reshape, ParameterReader& read, Leg& leg) {
  const int stage = reshape_stages(s)[static_cast<std::size_t>(reshape)];
  Windowed& cut = std::get<Windowed>(leg.cut);
  cut.hides_after = false;
  if (!cut_both_sides(s, stage, read, leg)) return;
  cut.before.fft_tests = cut.before.copy_tests = tests(read, "fy");
  leg.reason = hidden_behind(s, stage, leg);
}

}  // namespace weft
