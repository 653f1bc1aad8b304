#include "program/pipeline.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace weft {

std::vector<int> reshape_stages(const Schedule& schedule) {
  std::vector<int> positions;
  for (std::size_t i = 0; i < schedule.stages.size(); ++i)
    if (schedule.stages[i].kind == Stage::Kind::reshape) positions.push_back(static_cast<int>(i));
  return positions;
}

namespace {

void choose_sequential(const Schedule&, int, const PipelineParameters&, ReshapeChoice& choice) {
  choice.reason = "one tile";
}

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
  const auto compare = [&](const Box& mine, const Box& theirs) {
    if (mine.empty() || theirs.empty()) return;
    for (int a = 0; a < mine.ndim(); ++a)
      if (mine.lo[a] != theirs.lo[a] || mine.hi[a] != theirs.hi[a])
        shared[static_cast<std::size_t>(a)] = false;
  };
  for (int r = 0; r < from.ranks(); ++r) {
    const Box mine = from.box(r);
    compare(mine, to.box(r));
    for (const Overlap& o : to.overlaps(mine)) compare(mine, to.box(o.rank));
  }
  return shared;
}

Index largest_extent(const Tiling& tiling, int axis) {
  if (tiling.grid()) {
    const Range r = split(tiling.shape()[axis], (*tiling.grid())[axis], 0);
    return r.hi - r.lo;
  }
  Index most = 0;
  for (int r = 0; r < tiling.ranks(); ++r) most = std::max(most, tiling.box(r).extent(axis));
  return most;
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

/// Tiles along an axis: of a given thickness, or for 0 eight of them.
void cut(ReshapeChoice& choice, int axis, Index extent, Index wanted) {
  choice.axis = axis;
  choice.tile = std::min(wanted > 0 ? wanted : (extent + 7) / 8, extent);
  const Index tiles = (extent + choice.tile - 1) / choice.tile;
  if (tiles > 1 << 24)
    throw Error("plan: option tile", std::to_string(tiles) + " tiles", "at most 2^24: make tiles thicker");
  choice.tiles = static_cast<int>(tiles);
}

/// overlap-autotuned-3d-fft, Algorithm 1: one cut, along an axis that both sides of the exchange hold alike
/// and that the FFTs leave alone as far as possible.
void choose_windowed(const Schedule& s, int reshape, const PipelineParameters& values,
                     ReshapeChoice& choice) {
  const int stage = reshape_stages(s)[static_cast<std::size_t>(reshape)];
  const Tiling& from = *s.fields[static_cast<std::size_t>(stage)].tiling;
  const Tiling& to = *s.fields[static_cast<std::size_t>(stage) + 1].tiling;
  const std::vector<bool> shared = shared_axes(from, to);
  int best = -1, best_hiding = 0;
  Index best_extent = 1;
  for (int a = 0; a < from.shape().size(); ++a) {
    if (!shared[static_cast<std::size_t>(a)]) continue;
    const int score = hiding(s, stage, a);
    const Index extent = largest_extent(from, a);
    if (score > 0 && extent > 1 && std::tie(score, extent) > std::tie(best_hiding, best_extent)) {
      best = a;
      best_hiding = score;
      best_extent = extent;
    }
  }
  if (best < 0) {
    choice.reason =
        "one tile: no axis that both sides hold alike and an FFT beside the exchange could be tiled along";
    return;
  }
  cut(choice, best, best_extent, values.at("tile"));
  choice.window = static_cast<int>(values.at("window"));
  const auto hides = [&](int neighbour) {
    return neighbour >= 0 && neighbour < static_cast<int>(s.stages.size()) &&
           (tiled(s, neighbour, best) || partly_tiled(s, neighbour, best));
  };
  const bool before = hides(stage - 1), after = hides(stage + 1);
  choice.reason = before && after ? "behind both FFTs"
                  : before        ? "behind the FFT before it"
                                  : "behind the FFT after it";
}

/// DESIGN, "Tiles and two kinds of exchange": what the FFT before a reshape leaves behind goes to its
/// receivers while it is in the cache, and the FFT behind it reads it from there once. Tiles cut the slowest
/// axis that the FFT before leaves alone.
void choose_planes(const Schedule& s, int reshape, const PipelineParameters& values, ReshapeChoice& choice) {
  const int stage = reshape_stages(s)[static_cast<std::size_t>(reshape)];
  const Field& from = s.fields[static_cast<std::size_t>(stage)];
  const Stage* before = stage > 0 ? &s.stages[static_cast<std::size_t>(stage) - 1] : nullptr;
  choice.subtile = values.at("subtile") * 1024;
  choice.reason = "each stage passes once over its data";
  for (int a : from.order(0)) {
    const Index extent = largest_extent(*from.tiling, a);
    if (extent <= 1 || (before != nullptr && before->axes.contains(a))) continue;
    cut(choice, a, extent, values.at("tile"));
    return;
  }
}

constexpr std::array<PipelineParameter, 2> planes_parameters{
    PipelineParameter{"tile", "thickness of a tile along the axis it cuts; 0: an eighth of the axis", 0,
                      1 << 30, 0},
    PipelineParameter{"subtile", "KiB of the parts that pass through the cache one by one", 1, 1 << 20, 128}};

constexpr std::array<PipelineParameter, 2> windowed_parameters{
    PipelineParameter{"tile", "thickness of a tile along the axis it cuts; 0: an eighth of the axis", 0,
                      1 << 30, 0},
    PipelineParameter{"window", "tiles in flight at a time", 1, 1 << 20, 2}};

constexpr std::array table{
    Pipeline{"sequential", "transform all, exchange all, transform all", {}, choose_sequential},
    Pipeline{"windowed", "tiles; the exchange of up to `window` of them runs behind the FFTs beside it",
             windowed_parameters, choose_windowed},
    Pipeline{"planes", "parts of a stage are sent as soon as they are transformed; exchange direct only",
             planes_parameters, choose_planes, true},
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

std::vector<ReshapeChoice> choose_pipeline(const Schedule& schedule, const Pipeline& pipeline,
                                           const PipelineParameters& values) {
  PipelineParameters complete;
  for (const PipelineParameter& p : pipeline.parameters) complete[p.name] = p.standard;
  for (const auto& [name, value] : values) {
    const auto p = std::find_if(pipeline.parameters.begin(), pipeline.parameters.end(),
                                [&, key = name](const PipelineParameter& q) { return key == q.name; });
    if (p == pipeline.parameters.end())
      throw Error("plan: option " + name, std::to_string(value),
                  "no such option with pipeline " + std::string(pipeline.name));
    if (value < p->least || value > p->most)
      throw Error("plan: option " + name, std::to_string(value),
                  std::to_string(p->least) + " to " + std::to_string(p->most));
    complete[name] = value;
  }
  std::vector<ReshapeChoice> choices(reshape_stages(schedule).size());
  for (std::size_t j = 0; j < choices.size(); ++j) {
    choices[j].pipeline = pipeline.name;
    pipeline.choose(schedule, static_cast<int>(j), complete, choices[j]);
    if (choices[j].axis >= 0) choices[j].axis_name = name_of_axis(schedule, choices[j].axis);
  }
  return choices;
}

}  // namespace weft
