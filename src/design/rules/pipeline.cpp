// Which pipeline, and how it cuts every reshape.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "design/rules/rules.hpp"
#include "program/diversions.hpp"
#include "traffic/placement.hpp"

namespace weft {

namespace {

bool has(const Pipeline& pipeline, const std::string& parameter) {
  return std::any_of(pipeline.parameters.begin(), pipeline.parameters.end(),
                     [&](const PipelineParameter& p) { return parameter == p.name; });
}

bool has_all(const Pipeline& pipeline, const PipelineParameters& parameters) {
  return std::all_of(parameters.begin(), parameters.end(),
                     [&](const auto& asked) { return has(pipeline, asked.first); });
}

/// A tile costs a put to every peer, some 20 us beside what its bytes take, or a message, which devices carry
/// by kernels that take turns with those of FFTs; an H200 transforms a MiB in 1.6 us.
Index tile_cost(int ranks, bool in_messages) {
  constexpr Index of_a_put = Index{16} << 20, of_a_message = Index{28} << 20;
  return (in_messages ? of_a_message : of_a_put) * std::max(1, ranks - 1);
}

bool all(const Offers& offers, bool (*of)(const Offer&)) {
  return std::all_of(offers.begin(), offers.end(), [&](const Offer* o) { return of(*o); });
}

/// Whether exchanges and local FFTs can go on at the same time. On one machine what is stored is there at
/// once, and messages need the processors that compute; but for those of devices, whose way to the host
/// and back is hidden, too.
bool can_overlap(const Setting& setting, const Offers& offers) {
  if (setting.several_nodes())
    return all(offers, [](const Offer& o) { return o.traits.concurrent || o.overlaps; });
  return setting.devices || all(offers, [](const Offer& o) { return o.traits.stores; });
}

/// Whether all that ranks pass over in a transform stays in their second-level caches. Planes pass over it
/// once rather than twice, which then saves nothing, and cost a start and an end for each.
bool stays_in_cache(const Schedule& schedule, int real_bytes, const Setting& setting) {
  double largest = 0;
  for (const Field& field : schedule.fields) largest = std::max(largest, largest_bytes(field, real_bytes));
  const auto cache = *std::min_element(setting.cache_bytes.begin(), setting.cache_bytes.end());
  return 2 * largest <= static_cast<double>(cache);
}

bool boxes_are_alike(const Field& field, int ranks) {
  const Shape first = field.tiling->box(0).extents();
  for (int r = 1; r < ranks; ++r)
    if (field.tiling->box(r).extents() != first) return false;
  return true;
}

/// Whether rows of memory remain rows in an exchange, in whatever order they lie: kernels then put lines that
/// are adjacent, or their points.
bool keeps_rows(const Field& before, const Field& after) {
  const auto fastest = [](const Field& field) {
    int axis = field.shape.size() - 1;
    while (axis > 0 && field.shape[field.order(0)[axis]] == 1) --axis;
    return field.order(0)[axis];
  };
  return fastest(before) == fastest(after);
}

/// Whether links are busy while a GPU transforms the other axis of planes: those of the last FFT before the
/// only exchange, one axis of which is contiguous and stays on the rank (kernels/lines/planes.hpp). Beyond
/// `most` points the shared memory of a multiprocessor holds too few lines.
bool hides_puts(const Schedule& schedule) {
  constexpr Index most = 1440;
  const int reshape = reshape_stages(schedule).front();
  if (reshape == 0) return false;
  const Stage& stage = at(schedule.stages, reshape - 1);
  const Field &before = at(schedule.fields, reshape), &after = at(schedule.fields, reshape + 1);
  int axes = 0;
  for (const int axis : stage.axes) {
    if (before.shape[axis] > most) return false;
    if (before.shape[axis] > 1) ++axes;
  }
  const int fastest = before.order(0)[before.shape.size() - 1];
  return axes == 2 && stage.axes.contains(fastest) && keeps_rows(before, after) &&
         after.box(0).lo[fastest] == 0 && after.box(0).hi[fastest] == after.shape[fastest];
}

/// Whether all axes are of these kinds, and nothing else is done.
bool has_only(const Problem& p, std::initializer_list<Transform> kinds) {
  const auto is_one = [&](Transform t) { return std::ranges::find(kinds, t) != kinds.end(); };
  return std::all_of(p.transforms.begin(), p.transforms.end(), is_one) && p.line.empty() && p.modes.empty() &&
         p.points.empty() && p.between == Between::none;
}

/// Whether FFTs before all reshapes can put what they have: lines along one axis, in rows that stay rows.
bool can_put_in_each(const Schedule& schedule) {
  return std::ranges::all_of(reshape_stages(schedule), [&](int reshape) {
    if (reshape == 0 || at(schedule.stages, reshape - 1).kind != Stage::Kind::fft) return false;
    const Field &before = at(schedule.fields, reshape), &after = at(schedule.fields, reshape + 1);
    const AxisVector<int>& axes = at(schedule.stages, reshape - 1).axes;
    const auto longer = std::count_if(axes.begin(), axes.end(), [&](int a) { return before.shape[a] > 1; });
    return longer == 1 && keeps_rows(before, after);
  });
}

/// Whether every rank puts, in one reshape, only to ranks from which it got a part in another reshape before
/// (program/stream_plan.hpp), and to no more than a kernel puts to.
bool hears_first(const Schedule& now, int reshape, const Schedule& before, int last) {
  const auto tiling = [](const Schedule& s, int number, int side) -> const Tiling& {
    return *at(s.fields, at(reshape_stages(s), number) + side).tiling;
  };
  for (int r = 0; r < now.ranks; ++r) {
    const Box from = tiling(now, reshape, 0).box(r), to = tiling(before, last, 1).box(r);
    if (tiling(now, reshape, 1).count_overlaps(from) > Diversion::most_pieces) return false;
    const std::vector<Overlap> sources = tiling(before, last, 0).overlaps(to);
    for (const Overlap& o : tiling(now, reshape, 1).overlaps(from))
      if (o.rank != r && std::ranges::find(sources, o.rank, &Overlap::rank) == sources.end()) return false;
  }
  return true;
}

/// Whether no rank waits for room in either of two reshapes of both directions, whichever came before.
bool always_finds_room(const std::array<Schedule, 2>& schedules) {
  return std::ranges::all_of(schedules, [&](const Schedule& now) {
    return hears_first(now, 1, now, 0) && std::ranges::all_of(schedules, [&](const Schedule& before) {
             return hears_first(now, 0, before, 1);
           });
  });
}

/// Whether two axes in one launch can be the real one and another (kernels/lines/planes.hpp).
bool hides_real_rows(const Schedule& schedule) {
  constexpr Index most = 1440;
  const Stage& stage = schedule.stages.front();
  const Field& reals = schedule.fields.front();
  const Order& order = reals.order(0);
  if (stage.real_axis != order[order.size() - 1] || reals.shape[stage.real_axis] > most) return false;
  return std::ranges::all_of(stage.axes,
                             [&](int a) { return a == stage.real_axis || reals.shape[a] % 2 == 0; });
}

/// Whether the last FFT before each exchange puts what it has itself (docs/adr/0048).
enum class FftsPut {
  no,
  small,  ///< a small box of like parts that stays as precise as it is: tiles, which copy engines put beside
          ///< the FFTs, save less. On two H100 256^3 took 1.14 times as long with them in double precision
  large,  ///< any such box whose puts are hidden (512^3 takes 0.86 of the time); of r2c, one in double
          ///< precision that a rank reads 48 to 512 MiB of
  twice,  ///< in either of two exchanges, which land in the halves of one workspace in turn
};

FftsPut ffts_put(const Given& given, const std::array<Schedule, 2>& schedules, const Offers& offers,
                 const PipelineRules& rules) {
  const Problem& p = given.problem;
  const Schedule& schedule = schedules[0];
  const bool c2c = has_only(p, {Transform::c2c});
  if (!given.on_device() || !has_only(p, {Transform::c2c, Transform::r2c})) return FftsPut::no;
  const std::size_t reshapes = reshape_stages(schedule).size();
  if (reshapes < 1 || reshapes > 2 || rules.coded || given.setting.devices->islands.several())
    return FftsPut::no;
  if (!all(offers, [](const Offer& o) { return o.traits.stores; }) ||
      !std::ranges::all_of(given.problem.shape, has_small_factors))
    return FftsPut::no;
  double largest = 0;
  for (const Field& field : schedule.fields) {
    if (!boxes_are_alike(field, schedule.ranks)) return FftsPut::no;
    largest = std::max(largest, largest_bytes(field, rules.real_bytes));
  }
  if (given.wishes.puts.value == Puts::engine) return FftsPut::no;
  constexpr double small = 128 << 20;
  if (c2c && reshapes == 1 && kernels_may_put(given, schedule, 0) && largest <= small) return FftsPut::small;
  const Closed& closed = given.setting.closed;
  if (!closed.roomy.empty() || !closed.turns.empty()) return FftsPut::no;
  if (!c2c) {
    // Of what a rank reads. Below, it was not timed. Beyond, 1024^3 was, where rows of a tile are 64 bytes:
    // tiles by copy engines take 0.99 of the time forward, 0.92 backward. In single precision they take 0.80
    // to 1.0 of it at 512^3: kernels read odd numbers of modes one by one.
    constexpr double least = 48 << 20, most = 512 << 20;
    const double read = largest_bytes(schedule.fields.front(), rules.real_bytes);
    const bool hides = reshapes == 1 && given.real_size() == 8 && least <= read && read <= most &&
                       hides_puts(schedule) && hides_real_rows(schedule);
    return hides && can_put_in_each(schedules[1]) ? FftsPut::large : FftsPut::no;
  }
  if (reshapes == 2)
    return std::ranges::all_of(schedules, can_put_in_each) && always_finds_room(schedules) ? FftsPut::twice
                                                                                           : FftsPut::no;
  return std::ranges::all_of(schedules, hides_puts) ? FftsPut::large : FftsPut::no;
}

/// Whether rows of what FFTs put have gaps behind them where they land, so that all begin on a multiple of
/// what a GPU stores on a peer at a time: else each part of a row takes two messages of the link (the launch
/// of 512^3 of r2c takes 0.88 of the time). In single precision kernels read lines in pairs, which have to
/// stay whole. Rows of 129 modes (256^3), whose gaps are 5% of them, gain nothing. The real axis is last
/// backward, and its library reads such rows slowly.
bool pads_rows(const Given& given, const Schedule& schedule) {
  const Stage& last = schedule.stages.back();
  if (last.real_axis >= 0) return false;
  const Field& lands = at(schedule.fields, reshape_stages(schedule).front() + 1);
  const Order order = lands.order(0);
  const Index row = lands.box(0).extent(order[order.size() - 1]);
  const Index gap = padded_row(row, 2 * given.real_size()) - row;
  return (given.real_size() == 8 || row % 2 == 0) && 25 * gap <= row;
}

/// Whether what FFTs put lies in cells: where lines are so long that a block of threads has few of them,
/// whose modes fill 64 bytes of a row only, half of what a GPU stores on a peer at a time. Two rows of a cell
/// fill all of it, and the FFT behind the exchange finds all points of a few lines beside each other (1024^3
/// takes 0.94 of the time). All ranks have like boxes (`ffts_put`).
bool lands_in_cells(const Given& given, const Schedule& schedule) {
  constexpr Index most_beside = 800;
  const int reshape = reshape_stages(schedule).front();
  const Field& lands = at(schedule.fields, reshape + 1);
  const int ndim = lands.shape.size();
  if (!has_only(given.problem, {Transform::c2c}) || ndim + 2 > max_axes ||
      schedule.ranks > Diversion::most_pieces)
    return false;
  for (int r = 1; r < schedule.ranks; ++r)
    if (lands.order(r) != lands.order(0)) return false;
  const int fastest = lands.order(0)[ndim - 1];
  if (lands.shape[fastest] % points_of_cell(2 * given.real_size()) != 0) return false;
  return std::ranges::all_of(at(schedule.stages, reshape - 1).axes, [&](int a) {
    return a == fastest || lands.shape[a] == 1 ||
           (lands.shape[a] > most_beside && lands.box(0).extent(a) % rows_of_cell == 0);
  });
}

/// The same schedules, with axes where FFTs put best: before the exchange, or, of two exchanges, before the
/// one that cuts them.
std::array<Schedule, 2> with_ffts_that_put(const Given& given, std::array<Schedule, 2> schedules) {
  const FftStage asked = given.wishes.fft_stage.value;
  if (!given.on_device() || !has_only(given.problem, {Transform::c2c})) return schedules;
  transform_early(schedules[1]);
  if (asked == FftStage::automatic || asked == FftStage::last)
    for (Schedule& schedule : schedules) transform_what_is_cut(schedule);
  return schedules;
}

/// Whether tiles are worth what they cost, or their parameters were asked for. Among devices there have to be
/// several by rule, so that one can travel while another is transformed.
bool is_worth_tiles(const Given& given, const Schedule& schedule, FftsPut ffts_put,
                    const PipelineRules& rules) {
  if (!given.wishes.parameters.empty()) return true;
  if (!given.on_device())
    return given.setting.several_nodes() ? cuts_messages(given, schedule)
                                         : !stays_in_cache(schedule, rules.real_bytes, given.setting);
  if (ffts_put != FftsPut::no) return false;
  const std::vector<Leg> choices = choose_pipeline(schedule, find_pipeline("planes"), {}, rules);
  return std::any_of(choices.begin(), choices.end(), [](const Leg& c) { return c.tiles > 1; });
}

/// Whether tiles are planes, and nothing but planes.
bool are_planes(const std::vector<Leg>& legs) {
  return !legs.empty() && std::ranges::all_of(legs, [](const Leg& leg) {
    return leg.planes() != nullptr && leg.planes()->rest == 0;
  });
}

/// Why ranks cannot transform one array together; empty: they can.
std::string why_not_shared(const Given& given, const Schedule& schedule, const Offers& offers,
                           const PipelineRules& rules) {
  if (given.on_device()) return "arrays in memory of a GPU";
  if (given.setting.some_far()) return "ranks on several machines";
  if (rules.coded) return "a codec";
  for (const Offer* o : offers)
    if (!o->traits.stores || o->traits.gathers) return "exchange " + o->name;
  return not_shared(schedule);
}

}  // namespace

Index message_bytes(const Given& given, const Schedule& schedule) {
  Index most = 0;
  for (const int stage : reshape_stages(schedule)) {
    const Field& from = at(schedule.fields, stage);
    const Traffic sent = traffic(*from.tiling, *at(schedule.fields, stage + 1).tiling, 0);
    const int point_bytes = (from.element == Element::real ? 1 : 2) * given.real_size();
    if (sent.messages > 0) most = std::max(most, sent.sent_points * point_bytes / sent.messages);
  }
  return most;
}

bool cuts_messages(const Given& given, const Schedule& schedule) {
  // What each message takes beside its bytes is multiplied by the number of tiles. On four hosts with links
  // of 1 Gbit/s tiles lose up to messages of 128 KiB, and win from 256 KiB on (docs/performance.md).
  constexpr Index least = 192 << 10;
  return !given.wishes.parameters.empty() || message_bytes(given, schedule) >= least;
}

PipelineWish wished_pipeline(const Wishes& wishes, const std::string& preferred) {
  std::string name = wishes.pipeline.value;
  if (name == "auto") {
    name = preferred;
    if (!has_all(find_pipeline(name), wishes.parameters)) {
      const auto table = pipeline_table();
      const auto first = std::find_if(table.begin(), table.end(), [&](const Pipeline& p) {
        return p.worth_trying && has_all(p, wishes.parameters);
      });
      if (first != table.end()) name = first->name;
    }
  }
  const Pipeline& pipeline = find_pipeline(name);
  PipelineParameters values;
  for (const auto& [parameter, asked] : wishes.parameters)
    if (asked.origin != name_of(Origin::environment) || has(pipeline, parameter))
      values.emplace(parameter, asked);
  return {&pipeline, values};
}

/// What devices and networks bring is on its way for a while, so that both ends of it are hidden; on one
/// machine what is stored is there at once. Windowed needs the least memory.
const char* overlapping_pipeline(const Setting& setting) {
  if (!setting.closed.roomy.empty()) return "windowed";
  return setting.several_nodes() || setting.devices ? "two-front" : "planes";
}

PipelineRules pipeline_rules(const Problem& problem, const Wishes& wishes, const Setting& setting) {
  PipelineRules rules;
  rules.subtile = setting.constants.subtile;
  rules.overlap = wishes.overlap.value;
  rules.tile_cost = setting.devices ? tile_cost(setting.ranks(), false) : 0;
  rules.real_bytes = static_cast<int>(real_bytes(problem.precision));
  rules.coded = wants_packed(wishes, setting);
  return rules;
}

void choose_legs(const Given& given, const Offers& offers, Design& design) {
  const Setting& setting = given.setting;
  const bool by_device =
      given.on_device() && !offers.empty() && all(offers, [](const Offer& o) { return o.traits.by_device; });
  PipelineRules rules = pipeline_rules(given.problem, given.wishes, setting);
  if (by_device) rules.tile_cost = tile_cost(setting.ranks(), true);
  rules.in_messages = by_device;
  // What is asked for takes two hops more, which the tiles behind it have to hide.
  if (std::any_of(offers.begin(), offers.end(), [](const Offer* o) { return o->traits.asked_for; }))
    rules.tiles /= 2;
  const Schedule& forward = design.schedules[0];
  std::array<Schedule, 2> putting = with_ffts_that_put(given, design.schedules);
  const FftsPut put = ffts_put(given, putting, offers, rules);
  const bool overlaps = can_overlap(setting, offers) && is_worth_tiles(given, forward, put, rules);
  const std::string apart = why_not_shared(given, forward, offers, rules);
  const bool exchanges = !reshape_stages(forward).empty();
  const bool together = exchanges && apart.empty();
  const PipelineWish wish = wished_pipeline(given.wishes, overlaps   ? overlapping_pipeline(setting)
                                                          : together ? "shared"
                                                                     : "sequential");
  if (exchanges && wish.pipeline->shares && !apart.empty())
    throw Error(
        "plan: option pipeline", "shared, with " + apart,
        "another pipeline: this one is for arrays on the host, ranks of one machine, exchange direct and "
        "no codec");
  design.memory.ffts_put = put != FftsPut::no && wish.pipeline->name == std::string("sequential");
  design.memory.needs_turns = design.memory.ffts_put && put != FftsPut::small;
  if (design.memory.ffts_put) design.schedules = std::move(putting);
  const auto chosen = [&](std::size_t d) {
    return choose_pipeline(design.schedules[d], *wish.pipeline, wish.values, rules);
  };
  design.legs[0] = chosen(0);
  // So that FFTs pack what the first exchange sends backward, too (docs/adr/0073).
  if (by_device && are_planes(design.legs[0]) && has_only(given.problem, {Transform::c2c}) &&
      serves_both_ways(design.schedules[0]))
    design.schedules[1] = in_same_order(design.schedules[0]);
  design.legs[1] = chosen(1);
  for (std::size_t d = 0; d < 2; ++d) {
    if (design.memory.ffts_put && put == FftsPut::twice)
      for (Leg& leg : design.legs[d]) std::get<Windowed>(leg.cut).in_turn = true;
    if (design.memory.ffts_put && put == FftsPut::large)
      for (Leg& leg : design.legs[d]) {
        auto& cut = std::get<Windowed>(leg.cut);
        cut.in_cells = lands_in_cells(given, design.schedules[d]);
        cut.pads_rows = !cut.in_cells && pads_rows(given, design.schedules[d]);
      }
    for (const std::string* why : {&setting.closed.roomy, &setting.closed.turns})
      if (!why->empty())
        for (Leg& leg : design.legs[d]) leg.reason += "; " + *why;
  }
}

}  // namespace weft
