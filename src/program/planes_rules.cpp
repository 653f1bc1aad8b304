// Which side of a reshape pipelines planes and two-front cut, and how.
#include <algorithm>
#include <cmath>
#include <limits>

#include "program/pipeline_rules.hpp"
#include "traffic/tile_cut.hpp"

namespace weft {

namespace {
/// The axes that a stage transforms, if there is such a stage.
AxisVector<int> transformed(const Schedule& s, int stage) {
  return stage < 0 || stage >= static_cast<int>(s.stages.size())
             ? AxisVector<int>{}
             : s.stages[static_cast<std::size_t>(stage)].axes;
}

/// Whether a reshape is the last stage, and all ranks have one memory order before it. What has arrived is
/// then copied to the user's array, whatever its order: copy engines can put rows that keep theirs.
bool ends_with(const Schedule& s, int stage) {
  return stage + 1 == static_cast<int>(s.stages.size()) &&
         s.fields[static_cast<std::size_t>(stage)].orders.size() == 1;
}

/// Which side of a reshape tiles cut: the slowest axis that the FFT leaves alone which has more axes; of
/// equals, that before the exchange, and behind it in the mirror in time.
struct Side {
  bool cuts_after = false;
  AxisVector<int> transformed;  ///< on that side
  const Field *field = nullptr, *other = nullptr;
  int axis = -1;  ///< or -1
};
Side side_of(const Schedule& s, int reshape) {
  const int stage = reshape_stages(s)[static_cast<std::size_t>(reshape)];
  const AxisVector<int> before = transformed(s, stage - 1), after = transformed(s, stage + 1);
  Side side;
  side.cuts_after = s.mirrored ? after.size() >= before.size() : after.size() > before.size();
  side.transformed = side.cuts_after ? after : before;
  const Field &from = s.fields[static_cast<std::size_t>(stage)],
              &to = s.fields[static_cast<std::size_t>(stage) + 1];
  side.field = side.cuts_after ? &to : &from;
  side.other = side.cuts_after ? &from : &to;
  for (const int a : side.field->order(0))
    if (side.axis < 0 && largest_extent(*side.field->tiling, a) > 1 && !side.transformed.contains(a))
      side.axis = a;
  return side;
}

/// Whether the FFT between a reshape and the next one goes on tile by tile: both have tiles along one axis,
/// which it leaves alone.
bool goes_on_by_tiles(const Schedule& s, int reshape) {
  const Side first = side_of(s, reshape), second = side_of(s, reshape + 1);
  return first.axis == second.axis && (first.cuts_after || !second.cuts_after);
}

/// Whether such an FFT is behind the reshape or before it.
bool passes_tiles_on(const Schedule& s, int reshape) {
  const int reshapes = static_cast<int>(reshape_stages(s).size());
  return (reshape > 0 && goes_on_by_tiles(s, reshape - 1)) ||
         (reshape + 1 < reshapes && goes_on_by_tiles(s, reshape));
}

/// How thick a tile of `field` along `axis` is at least. In memory of devices, of n alike tiles the FFT of
/// one is not hidden, and each costs something: the best n is the square root of what a rank holds over what
/// a tile costs. It serves those that differ as well. Half as many, of two or more, are best where messages
/// of another reshape hide that FFT (`hidden`). On the host, tiles do not divide the cache lines of the
/// field on the other side of the reshape.
Index least_thickness(const Side& side, const PipelineRules& rules, bool hidden) {
  const Field &field = *side.field, &other = *side.other;
  const int axis = side.axis;
  if (!rules.whole_tiles()) {
    constexpr Index line = 64;
    const Index element = field.element == Element::real ? rules.real_bytes : 2 * rules.real_bytes;
    return other.order(0)[other.shape.size() - 1] == axis ? line / element : 1;
  }
  double tiles = std::sqrt(largest_bytes(field, rules.real_bytes) / static_cast<double>(rules.tile_cost));
  if (hidden) tiles = std::max(std::min(tiles, 2.0), tiles / 2);
  tiles = std::max(1.0, std::round(tiles));
  const Index thickness = divided_up<Index>(largest_extent(*field.tiling, axis), static_cast<Index>(tiles));
  // Runs of memory that begin on such multiples are read and stored faster.
  constexpr Index run = 32;
  const bool along_runs = field.order(0)[field.shape.size() - 1] == axis && thickness > run;
  return along_runs ? rounded_up(thickness, run) : thickness;
}

/// Whether tiles may differ in thickness: those of the same number are of all ranks alike, and begin on no
/// less even places in memory.
bool may_differ(const Field& field, int axis, Index extent) {
  if (field.order(0)[field.shape.size() - 1] == axis) return false;
  for (int r = 0; r < field.tiling->ranks(); ++r)
    if (const Box box = field.box(r); !box.empty() && box.extent(axis) != extent) return false;
  return true;
}

/// Bytes of the parts that pass through the cache one by one; whole tiles are not cut.
Index subtile_of(ParameterReader& read) {
  constexpr const char* name = "subtile";
  if (!read.rules().whole_tiles()) return read(name, read.rules().subtile / 1024, 1 << 20, "a GiB") * 1024;
  if (read.asked(name))
    throw Error("plan: option subtile", "given with arrays in memory of a GPU",
                "none: tiles are not cut further there");
  return std::numeric_limits<Index>::max();
}

/// How thick tiles on devices are. While an FFT makes the first tile that is sent, or works on the last one
/// that is received, no message is on its way, unless there are those of another reshape (ADR 0074). Else
/// tiles are alike; if they do not come out even, a thin last one could have no room (ADR 0071).
Thickness thickness_of(const Schedule& s, int reshape, const Side& side, const Leg& leg,
                       const PipelineRules& rules) {
  constexpr int most_tiles = 1 << 10;  // more are thin anyway
  if (!rules.in_messages || leg.tiles > most_tiles || passes_tiles_on(s, reshape))
    return Thickness::thin_first;
  return side.cuts_after ? Thickness::shrinking : Thickness::growing;
}

/// `alike`: tiles do not differ in thickness.
void cut_planes(const Schedule& s, int reshape, ParameterReader& read, Leg& leg, bool alike) {
  const int stage = reshape_stages(s)[static_cast<std::size_t>(reshape)];
  const Side side = side_of(s, reshape);
  Planes& planes = leg.cut.emplace<Planes>();
  planes.cuts_after = side.cuts_after;
  planes.subtile = subtile_of(read);
  planes.keeps_order = read.rules().whole_tiles() && ends_with(s, stage);
  leg.window = read.rules().overlap ? 1 : 0;
  leg.reason = std::string(!read.rules().whole_tiles() ? "each stage passes once over its data, " : "") +
               "tiles cut what is " + (planes.cuts_after ? "received" : "sent") +
               (leg.window == 0 ? ", no overlap" : "");
  if (side.axis < 0) return;
  const Index extent = largest_extent(*side.field->tiling, side.axis);
  // Parts of real numbers are packed by copies, others are encoded: with that an FFT takes longer than the
  // messages, which cannot hide it.
  const bool hidden = read.rules().in_messages && !read.rules().coded &&
                      std::ranges::all_of(s.transforms, [](Transform t) { return t == Transform::c2c; }) &&
                      passes_tiles_on(s, reshape);
  cut(leg, read, side.axis, extent, least_thickness(side, read.rules(), hidden));
  if (read.rules().whole_tiles() && may_differ(*side.field, side.axis, extent))
    planes.thickness = alike ? Thickness::thin_first : thickness_of(s, reshape, side, leg, read.rules());
  if (leg.tiles > 1 && planes.thickness == Thickness::growing) leg.reason += ", the first the thinnest";
  if (leg.tiles > 1 && planes.thickness == Thickness::shrinking) leg.reason += ", the last the thinnest";
}

/// Why messages between devices have no front; or nothing. Where the FFT leaves them, its parts and those of
/// the rest are to be pieces of memory. Each rank then sends two parts of a tile instead of one, which FFTs
/// are to read where they arrive.
std::string why_no_front(const Schedule& s, int stage, const Leg& leg, bool coded) {
  constexpr const char* packed = "its parts would have to be packed";
  const Field& before = s.fields[static_cast<std::size_t>(stage)];
  const Field& after = s.fields[static_cast<std::size_t>(stage) + 1];
  const bool one_order =
      before.orders.size() == 1 && after.orders.size() == 1 && before.order(0) == after.order(0);
  if (!leg.planes()->cuts_after || coded || !one_order || transformed(s, stage - 1).empty()) return packed;
  for (int r = 0; r < before.tiling->ranks(); ++r) {
    if (2 * before.tiling->count_overlaps(after.box(r)) > most_parts_read)
      return "too many parts would arrive";
    const Box sent = before.box(r);
    if (sent.empty()) continue;
    // A part is some planes, along the slowest axis, and all of each.
    bool slower = true;
    for (const int a : before.order(0)) {
      if (a == leg.axis) {
        slower = false;
        continue;
      }
      if (slower && sent.extent(a) > 1) return packed;
      for (const Overlap& o : after.tiling->overlaps(sent))
        if (o.box.extent(a) != sent.extent(a)) return packed;
    }
  }
  return "";
}
}  // namespace

/// DESIGN, "Tiles and two kinds of exchange": what the FFT before a reshape leaves behind goes to its
/// receivers while it is in the cache, and the FFT behind it reads it from there once.
void choose_planes(const Schedule& s, int reshape, ParameterReader& read, Leg& leg) {
  cut_planes(s, reshape, read, leg, false);
}

/// DESIGN, "two-front": with the planes goes only the front of the columns, the slowest axis that the FFT on
/// the other side leaves alone, another than the planes' if there is one. The rest follows in tiles of its
/// own, while the front is transformed; in backward it comes first. Of whole tiles only where there is
/// one exchange: between two of them planes are faster (natural to natural order of 1024^3 on four GPUs 19.4
/// ms, else 21; bricks of 512^3 on two 5.6, else 6.4). Among messages only where its parts are pieces of
/// memory.
void choose_two_front(const Schedule& s, int reshape, ParameterReader& read, Leg& leg) {
  const bool asked = read.asked("front") || read.asked("rest"), several = reshape_stages(s).size() > 1;
  // Tiles of the rest are thin, and several reshapes have no room for it.
  cut_planes(s, reshape, read, leg, asked && several);
  Planes& planes = std::get<Planes>(leg.cut);
  const int stage = reshape_stages(s)[static_cast<std::size_t>(reshape)];
  const int field = planes.cuts_after ? stage : stage + 1;
  const AxisVector<int> axes = transformed(s, planes.cuts_after ? stage - 1 : stage + 1);
  const Tiling& tiling = *s.fields[static_cast<std::size_t>(field)].tiling;
  for (int a : s.fields[static_cast<std::size_t>(field)].order(0)) {
    if (largest_extent(tiling, a) <= 1 || axes.contains(a)) continue;
    if (planes.columns < 0 || planes.columns == leg.axis) planes.columns = a;
  }
  if (planes.columns < 0) {
    leg.reason += ", no axis to divide into a front and a rest";
    return;
  }
  std::string missing;
  if (read.rules().whole_tiles() && !asked) {
    if (several)
      missing = "there is another exchange";
    else if (read.rules().in_messages)
      missing = why_no_front(s, stage, leg, read.rules().coded);
  }
  if (!missing.empty()) {
    planes.columns = -1;
    leg.reason += ", no front: " + missing;
    return;
  }
  const Index extent = largest_extent(tiling, planes.columns);
  // On the host, what takes half the time on the wire hides half as much. On devices the kernel that encodes
  // takes as long as exact parts do.
  const bool shorter = read.rules().coded && !read.rules().whole_tiles();
  planes.front = read("front", shorter ? 40 : 75, 99, "percent");
  // More tiles than columns are as good as one for each.
  constexpr Index anything = 1 << 20;
  const Index most = std::max<Index>(1, extent - front_of(extent, planes.front));
  planes.rest =
      static_cast<int>(std::min(read("rest", read.rules().whole_tiles() ? 1 : 2, anything, "tiles"), most));
  leg.tiles += planes.rest;
  leg.reason += ", a front along " + name_of_axis(s, planes.columns);
}

}  // namespace weft
