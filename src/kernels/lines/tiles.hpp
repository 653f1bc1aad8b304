// How many lines a block of threads has: shared by kernels and by those who plan for them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/arithmetic.hpp"
#include "kernels/lines/step.hpp"

namespace weft::lines {

/// Of a block, and blocks on a multiprocessor: while one computes, others move data. Three of them where
/// radices and tiles are small.
inline constexpr unsigned threads_of_block = 256;
inline constexpr int blocks_together = 2, small_blocks_together = 3;
/// The largest radix of a kernel of which three blocks share a multiprocessor. Larger ones take more
/// registers than these have.
inline constexpr int largest_small_radix = 10;

/// Bytes of a row of a tile, as memory is accessed in so many, and of a tile.
inline constexpr Index least_row = 64, most_tile = 100 << 10;

/// Values of 16 bytes that fill all banks of a GPU's shared memory. Tiles have whole groups of so many.
inline constexpr std::uint32_t values_of_banks = 8;
inline Index tile_values(Index points, Index columns) {
  return rounded_up<Index>(points * columns, values_of_banks);
}

/// Whether three tiles of so many bytes fit. A multiprocessor keeps some 1 KiB for itself beside each.
inline bool three_fit(Index tile, Index shared) {
  constexpr Index beside = 1280;
  return small_blocks_together * (tile + beside) <= shared;
}

/// How many columns a block has, as a power of two: as many as fill half of the memory that blocks of a
/// multiprocessor share, and rows of 64 bytes if all of it suffices for them; but not so many that blocks are
/// too few for a GPU.
inline std::uint32_t column_shift(Index n, Index value_bytes, Index lines, Index shared) {
  constexpr Index enough_blocks = 256;
  const Index column = n * value_bytes, row = least_row / value_bytes;
  Index columns = std::min(most_tile, shared / blocks_together) / column;
  columns = std::max(columns, std::min(row, shared / column));
  columns = std::clamp<Index>(columns, 1, threads_of_block);
  auto shift = static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(columns)) - 1);
  while ((Index{1} << shift) > row && (lines >> shift) < enough_blocks) --shift;
  return shift;
}

/// How many columns a block has that holds a part of each line, of so many points, as a power of two: rows of
/// 256 bytes, which memory is fast with, if three tiles fit; but not so many that blocks are too few.
inline constexpr Index part_row = 256;
inline std::uint32_t part_column_shift(Index points, Index value_bytes, Index lines, Index shared) {
  constexpr Index enough_blocks = 128;
  const auto bits = [](Index n) {
    return static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(n)) - 1);
  };
  std::uint32_t shift = bits(part_row / value_bytes);
  const std::uint32_t least = bits(least_row / value_bytes);
  const auto is_large = [&] { return !three_fit((points * value_bytes) << shift, shared); };
  while (shift > least && (is_large() || (lines >> shift) < enough_blocks)) --shift;
  return shift;
}

/// The threads that a block with so many columns needs: not more than it has butterflies in the stage that
/// has most of them. A multiple of the columns, which are a power of two.
inline unsigned busy_threads(const LineStep& step, Index columns) {
  constexpr Index two_warps = 64;
  const auto radices = std::span(step.radices).first(static_cast<std::size_t>(step.stages));
  const Index busy = columns * (step.n / std::ranges::min(radices));
  return static_cast<unsigned>(std::min<Index>(threads_of_block, rounded_up(busy, two_warps)));
}

}  // namespace weft::lines
