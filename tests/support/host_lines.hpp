// FFTs of lines that lie apart on the host, block after block, with the formulas and positions of devices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels/lines/parts.hpp"
#include "kernels/lines/real_rows.hpp"
#include "kernels/lines/tiles.hpp"
#include "kernels/lines/work.hpp"
#include "support/double_memory.hpp"
#include "support/host_divisor.hpp"

namespace weft::test {

/// As many threads as run a block on the host, one after the other.
inline constexpr std::uint32_t host_threads = 3;

/// As threads do, all columns finish a stage before the next one begins.
template <class Value, lines::AtOnce at_once, class HostForm, class Run>
void for_each_column(const HostForm& form, std::uint32_t first, std::uint32_t columns, lines::Tile at,
                     Value* tile, const lines::Line<lines::real_of<Value>, at_once>& start, const Run& run) {
  for (std::uint32_t c = 0; c < columns; ++c) {
    auto line = start;
    lines::go_to<lines::lines_in<Value>>(form, first + c, line);
    run(at.column<true>(tile, c), line);
  }
}

/// The stages of so many columns from `first` on.
template <class Value, lines::AtOnce at_once, class HostForm>
void run_columns(const LineStep& step, const HostForm& form, std::uint32_t first, std::uint32_t columns,
                 lines::Tile at, const lines::Line<lines::real_of<Value>, at_once>& start,
                 const lines::Roots<lines::real_of<Value>>& roots) {
  using lines::Role;
  std::vector<Value> tile(static_cast<std::size_t>(lines::tile_values(form.n, at.columns())));
  const bool by_points = form.points_adjacent || step.of_reals, stores_by_points = step.of_rows();
  for (std::uint32_t thread = 0; by_points && thread < host_threads; ++thread)
    if (step.of_reals)
      lines::run_first_by_points<Role::first_of_reals>(form, first, columns, thread, host_threads, at,
                                                       tile.data(), start, roots);
    else
      lines::run_first_by_points(form, first, columns, thread, host_threads, at, tile.data(), start, roots);
  const int last = form.stage_count() - 1;
  for (int i = by_points ? 1 : 0; i < (stores_by_points ? last : last + 1); ++i)
    for_each_column(form, first, columns, at, tile.data(), start, [&](const auto& column, const auto& line) {
      if (i == 0)
        lines::run_stage<Role::first>(form, i, 0, 1, column, line, roots);
      else if (i < last)
        lines::run_stage<Role::middle>(form, i, 0, 1, column, line, roots);
      else if (step.of_reals)
        lines::run_stage<Role::last_kept>(form, i, 0, 1, column, line, roots);
      else if (form.turn_loop < 0)
        lines::run_stage<Role::last>(form, i, 0, 1, column, line, roots);
      else
        lines::run_stage<Role::last_turned>(form, i, 0, 1, column, line, roots);
    });
  if (step.of_reals)
    for_each_column(form, first, columns, at, tile.data(), start, [&](const auto& column, const auto& line) {
      for (std::uint32_t thread = 0; thread < host_threads; ++thread)
        lines::take_apart(form, thread, host_threads, column, line);
    });
  for (std::uint32_t thread = 0; stores_by_points && thread < host_threads; ++thread)
    lines::run_last_by_points(form, first, columns, thread, host_threads, at, tile.data(), start, roots);
}

/// The same of rows of real numbers, which are read or stored.
template <class Value, RealRows reals, lines::AtOnce at_once, class HostForm>
void run_real_rows(const HostForm& form, std::uint32_t first, std::uint32_t columns, lines::Tile at,
                   const lines::Line<lines::real_of<Value>, at_once>& start,
                   const lines::Roots<lines::real_of<Value>>& roots) {
  using lines::Role;
  std::vector<Value> values(static_cast<std::size_t>(lines::tile_values(form.n, at.columns())));
  Value* const tile = values.data();
  const auto run_stage = [&]<Role role>(std::integral_constant<Role, role>, int i) {
    for_each_column(form, first, columns, at, tile, start, [&](const auto& column, const auto& line) {
      lines::run_stage<role>(form, i, 0, 1, column, line, roots);
    });
  };
  const int last = form.stage_count() - 1;
  for (std::uint32_t thread = 0; thread < host_threads; ++thread)
    if constexpr (reals == RealRows::read)
      lines::run_first_by_points(form, first, columns, thread, host_threads, at, tile, start, roots);
    else
      lines::run_first_of_modes(form, first, columns, thread, host_threads, at, tile, start, roots);
  for (int i = 1; i < last; ++i) run_stage(std::integral_constant<Role, Role::middle>{}, i);
  constexpr bool leaves_results = reals == RealRows::read && lines::leaves_results<HostForm>();
  if constexpr (leaves_results) run_stage(std::integral_constant<Role, Role::last_kept>{}, last);
  for (std::uint32_t thread = 0; thread < host_threads; ++thread)
    if constexpr (leaves_results)
      lines::store_modes_of_reals(form, first, columns, thread, host_threads, at, tile, start, roots);
    else if constexpr (reals == RealRows::read)
      lines::run_last_to_modes(form, first, columns, thread, host_threads, at, tile, start, roots);
    else
      lines::run_last_by_points(form, first, columns, thread, host_threads, at, tile, start, roots);
}

/// The same of a cluster of blocks, each of which has a part of every line.
template <class Value, lines::AtOnce at_once, class HostForm>
void run_parts(const HostForm& form, std::uint32_t first, std::uint32_t columns, lines::Tile at,
               const lines::Line<lines::real_of<Value>, at_once>& start,
               const lines::Roots<lines::real_of<Value>>& roots) {
  using lines::Role;
  const std::uint32_t parts = form.radix(0), threads = host_threads;
  std::vector<std::vector<Value>> tiles(parts, std::vector<Value>(form.below(0) << at.shift));
  const int last = form.stage_count() - 1;
  std::vector<lines::Complex<lines::real_of<Value>>> table;
  for (std::uint32_t i = 0; i < lines::roots_of_part(form); ++i)
    table.push_back(roots.line[lines::root_of_part(form, i)]);
  lines::Roots<lines::real_of<Value>> of_part = roots;
  of_part.line = table.data();
  for (int stage = 0; stage <= last; ++stage)
    for (std::uint32_t number = 0; number < parts; ++number)
      for (std::uint32_t c = 0; c < columns; ++c)
        for (std::uint32_t thread = 0; thread < threads; ++thread) {
          auto line = start;
          lines::go_to<lines::lines_in<Value>>(form, first + c, line);
          const lines::Part part{parts, number};
          const auto column_of = [&](std::uint32_t k) { return at.column<false>(tiles[k].data(), c); };
          if (stage == 0)
            lines::run_first_of_parts<Value>(form, part, true, thread, threads, column_of, line, roots,
                                             [] {});
          else if (stage < last)
            lines::run_stage<Role::middle>(form, stage, thread, threads, column_of(number), line, of_part,
                                           part);
          else
            lines::run_stage<Role::last>(form, stage, thread, threads, column_of(number), line, of_part,
                                         part);
        }
}

/// More columns than one, and fewer than most tests have lines.
inline constexpr lines::Tile some_columns{2};

/// Calls `run` for each block of lines: with the form, the first column, how many there are, the shape of
/// their tile, the first line and the roots.
template <class Value, class HostForm, class Run>
void for_each_block(const LineStep& step, const LineArrays& arrays, const Run& run) {
  const HostForm form(step, arrays, lines::lines_in<Value>);
  const lines::Roots<lines::real_of<Value>> roots(step);
  const lines::Tile at = some_columns;
  lines::from_first_line<Value>(step, arrays, [&](const auto& start) {
    for (std::uint32_t first = 0; first < form.lines; first += at.columns())
      run(form, first, std::min(at.columns(), form.lines - first), at, start, roots);
  });
}

/// With the forms that kernels have.
template <class Value>
void run_line_step(const LineStep& step, const LineArrays& arrays) {
  using Divisor = HostDivisor<std::uint32_t>;
  const auto blocks = [&](const auto& run) {
    return [&]<class HostForm>(std::type_identity<HostForm>) {
      for_each_block<Value, HostForm>(step, arrays, run);
    };
  };
  const auto read_rows = [](const auto&... block) { run_real_rows<Value, RealRows::read>(block...); };
  const auto store_rows = [](const auto&... block) { run_real_rows<Value, RealRows::stored>(block...); };
  const auto run_parts_of = [](const auto&... block) { run_parts<Value>(block...); };
  const auto run_lines = [&](const auto&... block) { run_columns<Value>(step, block...); };
  if (step.real_rows == RealRows::read)
    lines::with_form_of_real_rows<Divisor, RealRows::read>(step, blocks(read_rows));
  else if (step.real_rows == RealRows::stored)
    lines::with_form_of_real_rows<Divisor, RealRows::stored>(step, blocks(store_rows));
  else if (step.parts > 1)
    lines::with_form_of_parts<Divisor>(step, blocks(run_parts_of));
  else
    lines::with_form_of<Divisor>(step, blocks(run_lines));
}

inline void run_line_step(const LineStep& step, const LineArrays& arrays) {
  step.real_bytes == 8 ? run_line_step<lines::Complex<double>>(step, arrays)
                       : run_line_step<lines::Pair<float>>(step, arrays);
}

template <class Value, lines::AtOnce at_once, class HostForm>
void run_plane_lines_as(const PlaneLines& step, const LineArrays& arrays, std::byte* ring) {
  using Number = lines::Complex<lines::real_of<Value>>;
  const auto planes = static_cast<std::uint32_t>(step.planes), slots = static_cast<std::uint32_t>(step.slots);
  struct Half {
    Half(const LineStep& lines, const LineArrays& between, std::uint32_t planes)
        : form(lines, between, lines::lines_in<Value>),
          start{reinterpret_cast<const Number*>(between.from), reinterpret_cast<Number*>(between.to),
                reinterpret_cast<Number*>(between.diverted.empty() ? between.to : between.diverted.front())},
          roots(lines),
          at(some_columns),
          columns(form.lines / planes),
          tiles((columns + at.columns() - 1) / at.columns()),
          done(planes) {}
    HostForm form;
    lines::Line<lines::real_of<Value>, at_once> start;
    lines::Roots<lines::real_of<Value>> roots;
    lines::Tile at;
    std::uint32_t columns, tiles;
    std::vector<std::uint32_t> done;  ///< tiles of each plane
  };
  Half halves[2] = {{step.first, {arrays.from, ring, {}}, planes},
                    {step.second, {ring, arrays.to, arrays.diverted}, planes}};
  const lines::TileOrder<HostDivisor<std::uint32_t>> order(step, halves[0].tiles, halves[1].tiles);
  for (std::uint32_t position = 0; position < order.count(); ++position) {
    const auto [is_second, plane, number] = order(position);
    // What a block of threads would wait for has been done before.
    if (is_second && halves[0].done[plane] != halves[0].tiles)
      device_double::fail("a tile before what it reads");
    if (!is_second && plane >= slots && halves[1].done[plane - slots] != halves[1].tiles)
      device_double::fail("a tile that is stored where another one still reads");
    Half& half = halves[is_second ? 1 : 0];
    auto start = half.start;
    const Index slot =
        static_cast<Index>(plane % slots) * step.plane_bytes() / static_cast<Index>(sizeof(Number));
    is_second ? void(start.from += slot) : void(start.to += slot);
    const std::uint32_t first = number * half.at.columns();
    run_columns<Value>(is_second ? step.second : step.first, half.form, plane * half.columns + first,
                       std::min(half.at.columns(), half.columns - first), half.at, start, half.roots);
    ++half.done[plane];
  }
  for (const Half& half : halves)
    for (const std::uint32_t done : half.done)
      if (done != half.tiles) device_double::fail("tiles that are not done");
}

/// Calls `run` with the type of the form that kernels have for planes: with small radices these are others,
/// of which three blocks share a multiprocessor.
template <int values, class Run>
void with_host_form(const PlaneLines& step, const Run& run) {
  using Divisor = HostDivisor<std::uint32_t>;
  const auto has_small = [](const LineStep& of) {
    return std::ranges::max(of.radices) <= lines::largest_small_radix;
  };
  if constexpr (lines::few_forms)
    run(std::type_identity<lines::Form<Divisor>>{});
  else if (has_small(step.first) && has_small(step.second))
    lines::with_form_of<Divisor, lines::largest_small_radix, values>(step, run);
  else if (step.first.radices == step.second.radices)
    lines::with_form_among<Divisor, lines::largest_radix, lines::Radices<8, 16>>(step.first, run);
  else
    run(std::type_identity<lines::Form<Divisor>>{});
}

template <class Value, lines::AtOnce at_once>
void run_plane_lines(const PlaneLines& step, const LineArrays& arrays, std::byte* ring) {
  with_host_form<lines::lines_in<Value>>(step, [&]<class HostForm>(std::type_identity<HostForm>) {
    run_plane_lines_as<Value, at_once, HostForm>(step, arrays, ring);
  });
}

/// `counters` are looked at, and left as they are.
inline void run_plane_lines(const PlaneLines& step, const LineArrays& arrays, std::byte* ring,
                            const std::byte* counters) {
  using lines::AtOnce;
  for (Index i = 0; i < 4 * step.counters(); ++i)
    if (counters[i] != std::byte{0}) device_double::fail("counters that are not zero");
  if (step.first.real_bytes == 8)
    run_plane_lines<lines::Complex<double>, AtOnce::all>(step, arrays, ring);
  else if (lines::store_at_once<lines::Pair<float>>(step, arrays))
    run_plane_lines<lines::Pair<float>, AtOnce::stores>(step, arrays, ring);
  else
    run_plane_lines<lines::Pair<float>, AtOnce::none>(step, arrays, ring);
}

}  // namespace weft::test
