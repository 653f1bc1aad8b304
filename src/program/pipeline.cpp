#include "program/pipeline.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "program/pipeline_rules.hpp"

namespace weft {

Index largest_extent(const Tiling& tiling, int axis) {
  if (tiling.grid()) {
    const Range r = split(tiling.shape()[axis], (*tiling.grid())[axis], 0);
    return r.hi - r.lo;
  }
  Index most = 0;
  for (int r = 0; r < tiling.ranks(); ++r) most = std::max(most, tiling.box(r).extent(axis));
  return most;
}

double largest_bytes(const Field& field, int real_bytes) {
  double bytes = field.element == Element::real ? real_bytes : 2 * real_bytes;
  for (int a = 0; a < field.shape.size(); ++a)
    bytes *= static_cast<double>(std::max<Index>(1, largest_extent(*field.tiling, a)));
  return bytes;
}

std::string extent_of(int axis) {
  return "the largest extent of axis " + std::to_string(axis) + " on a rank";
}

void set_tiles(Leg& leg, Index tiles) {
  if (tiles > 1 << 24)
    throw Error("plan: option tile", std::to_string(tiles) + " tiles", "at most 2^24: make tiles thicker");
  leg.tiles = static_cast<int>(tiles);
}

void cut(Leg& leg, ParameterReader& read, int axis, Index extent, Index least) {
  const Index rule = std::min(extent, std::max(least, divided_up<Index>(extent, read.rules().tiles)));
  leg.axis = axis;
  leg.tile = read("tile", rule, extent, extent_of(axis));
  if (leg.tile == 0) leg.tile = rule;
  set_tiles(leg, divided_up<Index>(extent, leg.tile));
}

namespace {

void choose_sequential(const Schedule&, int, ParameterReader&, Leg& leg) {
  leg.reason = "one tile";
}

constexpr Index anything = 1 << 30;
constexpr PipelineParameter of_tiles(const char* name, const char* meaning) {
  return {.name = name, .meaning = meaning, .least = 0, .most = anything, .each_reshape = true};
}

constexpr PipelineParameter tile_parameter = of_tiles(
    "tile", "thickness of a tile along the axis it cuts; 0: an eighth of the axis for most exchanges");
constexpr PipelineParameter items_parameter = of_tiles(
    "items", "items of a batch in a tile; 1: each item has tiles of its own; 0: as many as make 8 tiles");
constexpr PipelineParameter window_parameter{.name = "window",
                                             .meaning = "tiles in flight at a time",
                                             .least = 1,
                                             .most = 1 << 20,
                                             .most_tried = 8,
                                             .every_value = true,
                                             .each_reshape = true};

constexpr PipelineParameter thickness(const char* name, const char* meaning) {
  return {.name = name, .meaning = meaning, .least = 0, .most = anything, .least_tried = 0};
}

constexpr PipelineParameter frequency(const char* name, const char* meaning) {
  return {.name = name,
          .meaning = meaning,
          .least = 0,
          .most = 1 << 20,
          .least_tried = 0,
          .most_tried = 64,
          .rule_tried = true};
}

constexpr PipelineParameter subtile_parameter{
    .name = "subtile",
    .meaning = "KiB of the parts that pass through the cache one by one",
    .least = 1,
    .most = 1 << 20,
    .least_tried = 16,
    .most_tried = 4096};

constexpr std::array planes_parameters{tile_parameter, subtile_parameter};

constexpr std::array two_front_parameters{
    tile_parameter, subtile_parameter,
    PipelineParameter{.name = "front",
                      .meaning = "percent of the columns that go with the planes",
                      .least = 1,
                      .most = 99,
                      .least_tried = 16,
                      .most_tried = 99},
    PipelineParameter{.name = "rest",
                      .meaning = "tiles in which the other columns follow",
                      .least = 1,
                      .most = 1 << 20,
                      .most_tried = 8}};

constexpr std::array th_parameters{
    tile_parameter, items_parameter, window_parameter,
    frequency("fy", "calls into the exchange while a tile is transformed, and packed")};

/// overlap-autotuned-3d-fft, Table 1.
constexpr std::array windowed_parameters{
    tile_parameter,
    items_parameter,
    window_parameter,
    thickness("px", "thickness, across the tile, of what is transformed and packed together; 0: all"),
    thickness("pz", "px along the axis that tiles cut"),
    thickness("uy", "thickness, across the tile, of what is unpacked and transformed together; 0: all"),
    thickness("uz", "uy along the axis that tiles cut"),
    frequency("fy", "calls into the exchange during the FFT of a tile before it"),
    frequency("fp", "calls into the exchange while a tile is packed"),
    frequency("fu", "calls into the exchange while a tile is unpacked"),
    frequency("fx", "calls into the exchange during the FFT of a tile behind it")};

constexpr std::array table{
    Pipeline{.name = "sequential",
             .meaning = "transform all, exchange all, transform all",
             .parameters = {},
             .choose = choose_sequential,
             .build = build_windowed},
    Pipeline{.name = "th",
             .meaning = "tiles; the exchange of up to `window` of them runs behind the FFT before it",
             .parameters = th_parameters,
             .choose = choose_th,
             .build = build_windowed,
             .worth_trying = false},
    Pipeline{.name = "windowed",
             .meaning = "tiles; the exchange of up to `window` of them runs behind the FFTs beside it",
             .parameters = windowed_parameters,
             .choose = choose_windowed,
             .build = build_windowed},
    Pipeline{.name = "planes",
             .meaning = "parts of a stage are sent as soon as they are transformed",
             .parameters = planes_parameters,
             .choose = choose_planes,
             .build = build_planes,
             .sends_parts = true},
    Pipeline{.name = "two-front",
             .meaning = "planes with the front of the columns; the rest follows while that is transformed",
             .parameters = two_front_parameters,
             .choose = choose_two_front,
             .build = build_planes,
             .sends_parts = true},
    Pipeline{.name = "shared",
             .meaning = "ranks that share memory transform one array together: nothing is exchanged",
             .parameters = {},
             .choose = choose_shared,
             .build = build_shared,
             .shares = true},
};

}  // namespace

std::span<const Pipeline> pipeline_table() {
  return table;
}

const Pipeline& find_pipeline(const std::string& name) {
  std::string names = "auto";
  for (const Pipeline& p : table) {
    if (name == p.name) return p;
    names += std::string(", ") + p.name;
  }
  throw Error("plan: option pipeline", "\"" + name + "\"", "one of " + names);
}

namespace {
/// "th, windowed"
std::string having(const std::string& parameter) {
  std::vector<std::string> names;
  for (const Pipeline& p : table)
    for (const PipelineParameter& q : p.parameters)
      if (parameter == q.name) names.emplace_back(p.name);
  return join(names, ", ");
}

void check_asked(const Pipeline& pipeline, const PipelineParameters& values, std::size_t reshapes) {
  for (const auto& [name, asked] : values) {
    const auto p = std::find_if(pipeline.parameters.begin(), pipeline.parameters.end(),
                                [&, key = name](const PipelineParameter& q) { return key == q.name; });
    if (p == pipeline.parameters.end())
      throw Error(
          "plan: option " + name, join(asked.values, ","),
          "no such option with pipeline " + std::string(pipeline.name) + ", but with " + having(name));
    if (asked.values.size() != 1 && asked.values.size() != reshapes)
      throw Error("plan: option " + name, std::to_string(asked.values.size()) + " values",
                  "one for all, or one per reshape, of which there are " + std::to_string(reshapes));
    for (Index value : asked.values)
      if (value < p->least || value > p->most)
        throw Error("plan: option " + name, std::to_string(value),
                    std::to_string(p->least) + " to " + std::to_string(p->most));
  }
}
}  // namespace

std::vector<Leg> choose_pipeline(const Schedule& schedule, const Pipeline& pipeline,
                                 const PipelineParameters& values, const PipelineRules& rules) {
  std::vector<Leg> legs(reshape_stages(schedule).size());
  check_asked(pipeline, values, legs.size());
  for (int j = 0; j < static_cast<int>(legs.size()); ++j) {
    Leg& leg = at(legs, j);
    leg.pipeline = pipeline.name;
    ParameterReader read(values, rules, reshape_like(schedule, j), leg);
    pipeline.choose(schedule, j, read, leg);
    if (leg.axis >= 0) leg.axis_name = name_of_axis(schedule, leg.axis);
    if (leg.item_axis() >= 0) leg.axis_name += " of each item of " + name_of_axis(schedule, leg.item_axis());
  }
  return legs;
}

Program build_program(const Schedule& schedule, const std::vector<Leg>& legs, const ProgramRequest& request) {
  const auto build = legs.empty() ? build_local : find_pipeline(legs.front().pipeline).build;
  return build(schedule, legs, request);
}

}  // namespace weft
