// Copies between a strided box and coded rows (codec/codec.hpp) by groups of threads, as kernels of devices
// do them: 32 rows at a time, of each one block, whose 64 numbers a warp codes. The functions are for devices
// and for the host, where tests run them thread by thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "codec/block.hpp"
#include "kernels/coded_loops.hpp"

namespace weft::coding {

inline constexpr int warp_threads = 32, warps = 8, threads = warp_threads * warps;
/// Rows that a warp codes, and a group. All that a warp codes it reads before it works on any.
inline constexpr int warp_rows = 4, group_rows = warps * warp_rows;
/// Blocks are coded one after the other by a group while there are groups for every processor of a device.
inline constexpr Index enough_groups = 4096, most_together = 8;

/// A complex number, or two neighbours: what one thread codes.
template <class Real>
struct alignas(2 * sizeof(Real)) Two {
  Real of[2];
};
template <class Value>
struct ForRows {
  Value of[warp_rows];
};

/// What a group of threads shares. The padding keeps its threads from meeting in one bank of memory.
template <class Real>
struct Tile {
  Two<Real> numbers[group_rows][codec::block_reals / 2 + 1];
  Index in_box[group_rows], in_rows[group_rows];
};

/// Groups of threads that a copy takes.
inline Index groups(const CodedLoops& c) {
  return (c.rows + group_rows - 1) / group_rows * c.divisions;
}

/// The rows of a group, and the blocks of each.
struct Share {
  Index first_row;
  int rows;
  std::uint32_t begin, end;

  /// Positions of groups have 32 bits, which devices divide quickly.
  WEFT_INLINE Share(const CodedLoops& c, std::uint32_t group) {
    const std::uint32_t which = group / c.divisions;
    first_row = static_cast<Index>(which) * group_rows;
    rows = static_cast<int>(c.rows - first_row < group_rows ? c.rows - first_row : group_rows);
    begin = (group - which * c.divisions) * c.together;
    end = begin + c.together < c.blocks ? begin + c.together : c.blocks;
  }
};

/// A block of rows. Of a whole one, of complex numbers, compilers know the numbers that it has.
template <bool Whole>
struct Piece {
  Index head, payload;  ///< where those of the block are in their row, in bytes
  Index in_box;         ///< from the first copied point of a row in the box to the block's first number
  int n, lo, hi;        ///< numbers of the block, and those that are copied
  int point_reals;

  /// Number `i` of those that are copied.
  WEFT_INLINE Piece(const CodedLoops& c, std::uint32_t i, int code_bytes) {
    constexpr Index block = codec::block_reals;
    const Index number = c.first / block + i, begin = number * block, skipped = begin - c.first;
    head = number * static_cast<Index>(sizeof(codec::Head));
    payload = c.heads + begin * code_bytes;
    in_box = (c.point_reals == 2 ? skipped / 2 : skipped) * c.stride;
    n = static_cast<int>(Whole || c.reals - begin >= block ? block : c.reals - begin);
    lo = static_cast<int>(Whole || skipped >= 0 ? 0 : -skipped);
    hi = Whole || c.last - begin >= n ? n : static_cast<int>(c.last - begin);
    point_reals = Whole ? 2 : c.point_reals;
  }
  WEFT_INLINE bool has(int i) const { return Whole || (i >= lo && i < hi); }
};

WEFT_INLINE bool is_whole(const CodedLoops& c, std::uint32_t i) {
  const Piece<false> piece(c, i, 0);
  return piece.lo == 0 && piece.hi == codec::block_reals && c.point_reals == 2;
}

template <class Real, class Group>
WEFT_INLINE void locate_rows(const CodedLoops& c, const Share& share, Group& group, Tile<Real>& tile) {
  group.each([&](int thread) {
    if (thread < share.rows) c.locate(share.first_row + thread, tile.in_box[thread], tile.in_rows[thread]);
  });
}

/// From where a block begins in the box to the first of the two numbers that a lane codes.
template <bool Whole>
WEFT_INLINE Index lane_offset(const CodedLoops& c, const Piece<Whole>& piece, int lane) {
  return piece.in_box + (piece.point_reals == 2 ? lane : 2 * lane) * c.stride;
}

/// Calls `copy(numbers, address)` for a complex number, which begins at a multiple of its size, or
/// `copy(number, address)` for a real one, of the two that a lane codes, if they are copied.
template <class Real, bool Whole, class Byte, class Copy>
WEFT_INLINE void each_in_box(const CodedLoops& c, const Piece<Whole>& piece, int lane, Two<Real>& two,
                             Byte* at, const Copy& copy) {
  if (piece.point_reals == 2) {
    if (piece.has(2 * lane)) copy(two, at);
  } else {
    for (int k = 0; k < 2; ++k)
      if (piece.has(2 * lane + k)) copy(two.of[k], at + k * c.stride);
  }
}

/// The same for what a thread copies between box and tile, neighbours in the box by threads that are
/// neighbours.
template <class Real, bool Whole, class Byte, class Copy>
WEFT_INLINE void each_in_tile(const CodedLoops& c, const Piece<Whole>& piece, const Share& share, int thread,
                              Tile<Real>& tile, Byte* box, const Copy& copy) {
  const int row = thread % group_rows;
  if (row >= share.rows) return;
  constexpr int step = threads / group_rows;
  const int first = thread / group_rows;
  Byte* at = box + tile.in_box[row] + lane_offset(c, piece, first);
  const Index next = lane_offset(c, piece, step) - piece.in_box;
  WEFT_UNROLL
  for (int k = 0; k < codec::block_reals / 2; k += step, at += next)
    each_in_box(c, piece, first + k, tile.numbers[row][first + k], at, copy);
}

struct Load {
  template <class Value>
  WEFT_INLINE void operator()(Value& value, const std::byte* at) const {
    value = codec::aligned_load<Value>(at);
  }
};
struct Store {
  template <class Value>
  WEFT_INLINE void operator()(const Value& value, std::byte* at) const {
    codec::aligned_store(at, value);
  }
};

WEFT_INLINE void tell(const CodingFault& fault, codec::Outcome outcome) {
  if (outcome != codec::Outcome::good) *fault.at = fault.name + static_cast<std::uint32_t>(outcome);
}

/// The power of two by which the numbers of a usual block were divided, and the sum of their codes.
struct Coded {
  int shift;
  std::uint32_t sum;
};

/// Encodes the payload of the block of which a lane has `numbers(lane)`. False: nothing is done, as the block
/// is not usual.
template <class Block, class Real, class Warp, class Numbers>
WEFT_INLINE bool encode_usual(Warp& warp, const Numbers& numbers, int n, int bits, std::byte* payload,
                              Coded& coded) {
  using W = codec::Words<Block::bytes>;
  typename Warp::template Each<std::int32_t> largest;
  typename Warp::template Each<bool> any;
  warp.each([&](int lane) {
    codec::Extent<Real> two;
    for (int k = 0; k < 2; ++k)
      if (2 * lane + k < n) two.add(numbers(lane).of[k]);
    largest[lane] = two.largest;
    any[lane] = two.any != 0;
  });
  codec::Extent<Real> extent;
  extent.largest = warp.largest(largest);
  extent.any = warp.any(any);
  if (!Block::is_usual(extent, coded.shift)) return false;
  const Real factor = codec::power_of_two<Real>(-coded.shift);
  typename Warp::template Each<std::uint32_t> sums;
  warp.each([&](int lane) {
    const int i = 2 * lane, count = n - i < 2 ? n - i : 2;
    typename Block::Code codes[2] = {0, 0};
    for (int k = 0; k < 2; ++k)
      if (k < count) codes[k] = Block::code(numbers(lane).of[k], factor, bits);
    sums[lane] = W::sum(codes[0]) + W::sum(codes[1]);
    if (count == 2)
      W::store_two(payload, n, i, codes);
    else if (count == 1)
      W::store(payload, n, i, codes[0]);
  });
  coded.sum = warp.sum(sums);
  return true;
}

template <class Code>
struct TwoCodes {
  Code of[2];
};

template <class Block>
WEFT_INLINE TwoCodes<typename Block::Code> load_two(const std::byte* payload, int n, int lane) {
  using Code = typename Block::Code;
  using W = codec::Words<Block::bytes>;
  TwoCodes<Code> two{};
  const int i = 2 * lane;
  if (i + 1 < n)
    W::load_two(payload, n, i, two.of);
  else if (i < n)
    two.of[0] = W::template load<Code>(payload, n, i);
  return two;
}

/// Decodes a block of which a lane has `codes(lane)` to `numbers(lane)`, if it is sound and usual. `usual`
/// says which it is.
template <class Block, class Real, class Warp, class Codes, class Numbers>
WEFT_INLINE codec::Outcome decode_usual(Warp& warp, const codec::Head& head, const Codes& codes,
                                        const Numbers& numbers, bool& usual) {
  using W = codec::Words<Block::bytes>;
  typename Warp::template Each<std::uint32_t> sums;
  warp.each([&](int lane) { sums[lane] = W::sum(codes(lane).of[0]) + W::sum(codes(lane).of[1]); });
  usual = true;
  if (!codec::fits(head, warp.sum(sums))) return codec::Outcome::damaged;
  usual = Block::is_usual(head);
  if (!usual) return codec::Outcome::good;
  const auto factor = codec::power_of_two<Real>(head.shift);
  warp.each([&](int lane) {
    for (int k = 0; k < 2; ++k) numbers(lane).of[k] = Block::number(codes(lane).of[k], factor);
  });
  return codec::Outcome::good;
}

/// One thread codes a block that is not usual, as the host does.
template <class Block, class Real>
WEFT_RARE codec::Outcome encode_unusual(const Real* numbers, int n, int bits, std::byte* head_at,
                                        std::byte* payload) {
  codec::Head head{};
  const codec::Outcome outcome = Block::encode(numbers, n, bits, &head, payload);
  codec::aligned_store(head_at, codec::same_bits<std::uint32_t>(head));
  return outcome;
}
template <class Block, class Real>
WEFT_RARE codec::Outcome decode_unusual(const std::byte* head_at, const std::byte* payload, int n, int bits,
                                        Real* numbers) {
  const auto head = codec::same_bits<codec::Head>(codec::aligned_load<std::uint32_t>(head_at));
  return Block::decode(head, payload, n, 0, n, bits, numbers);
}

/// What a warp codes of a group's rows.
struct Turn {
  int first, count;
  WEFT_INLINE Turn(const Share& share, int warp) : first(warp * warp_rows), count(share.rows - first) {
    if (count > warp_rows) count = warp_rows;
  }
};

template <class Block, class Real, bool Across, bool Whole, class Warp>
WEFT_INLINE void encode_rows(Warp& warp, const Turn& turn, const Piece<Whole>& piece, const CodedLoops& c,
                             const CodingFault& fault, Tile<Real>& tile, const std::byte* box,
                             std::byte* rows) {
  const Real factor = static_cast<Real>(c.factor);
  typename Warp::template Each<ForRows<Two<Real>>> numbers;
  warp.each([&](int lane) {
    const std::byte* const from = box + lane_offset(c, piece, lane);
    WEFT_UNROLL
    for (int r = 0; r < warp_rows; ++r) {
      Two<Real>& two = numbers[lane].of[r];
      two = {{0, 0}};
      if (r >= turn.count) continue;
      if (Across)
        two = tile.numbers[turn.first + r][lane];
      else
        each_in_box(c, piece, lane, two, from + tile.in_box[turn.first + r], Load{});
      for (Real& x : two.of) x *= factor;
    }
  });
  unsigned unusual = 0;
  ForRows<Coded> coded{};
  WEFT_UNROLL
  for (int r = 0; r < warp_rows; ++r) {
    if (r >= turn.count) continue;
    const auto two = [&](int lane) -> const Two<Real>& { return numbers[lane].of[r]; };
    std::byte* const payload = rows + tile.in_rows[turn.first + r] + piece.payload;
    if (encode_usual<Block, Real>(warp, two, piece.n, c.bits, payload, coded.of[r])) continue;
    unusual |= 1U << r;
    warp.each([&](int lane) { tile.numbers[turn.first + r][lane] = two(lane); });
  }
  warp.each([&](int lane) {
    if (lane >= turn.count || (unusual >> lane & 1U) != 0) return;
    Coded own = coded.of[0];
    WEFT_UNROLL
    for (int r = 1; r < warp_rows; ++r)
      if (lane == r) own = coded.of[r];
    codec::aligned_store(rows + tile.in_rows[turn.first + lane] + piece.head,
                         codec::same_bits<std::uint32_t>(codec::head_of(own.shift, own.sum)));
  });
  WEFT_KEEP_LOOP
  for (int r = 0; unusual >> r != 0; ++r)
    if ((unusual >> r & 1U) != 0)
      warp.first([&] {
        std::byte* const row = rows + tile.in_rows[turn.first + r];
        tell(fault, encode_unusual<Block>(tile.numbers[turn.first + r][0].of, piece.n, c.bits,
                                          row + piece.head, row + piece.payload));
      });
}

template <class Block, class Real, bool Across, bool Whole, class Warp>
WEFT_INLINE void decode_rows(Warp& warp, const Turn& turn, const Piece<Whole>& piece, const CodedLoops& c,
                             const CodingFault& fault, Tile<Real>& tile, std::byte* box,
                             const std::byte* rows) {
  using Code = typename Block::Code;
  typename Warp::template Each<std::uint32_t> heads{};
  typename Warp::template Each<ForRows<TwoCodes<Code>>> codes;
  typename Warp::template Each<Two<Real>> numbers{};
  warp.each([&](int lane) {
    if (lane < turn.count)
      heads[lane] = codec::aligned_load<std::uint32_t>(rows + tile.in_rows[turn.first + lane] + piece.head);
    WEFT_UNROLL
    for (int r = 0; r < warp_rows; ++r) {
      codes[lane].of[r] = {};
      if (r >= turn.count) continue;
      const std::byte* const row = rows + tile.in_rows[turn.first + r];
      codes[lane].of[r] = load_two<Block>(row + piece.payload, piece.n, lane);
    }
  });
  const auto put = [&](int lane, int row) {
    if (Across)
      tile.numbers[row][lane] = numbers[lane];
    else
      each_in_box(c, piece, lane, numbers[lane], box + lane_offset(c, piece, lane) + tile.in_box[row],
                  Store{});
  };
  unsigned unusual = 0;
  codec::Outcome outcome = codec::Outcome::good;
  WEFT_UNROLL
  for (int r = 0; r < warp_rows; ++r) {
    if (r >= turn.count) continue;
    bool usual = true;
    const auto head = codec::same_bits<codec::Head>(warp.from(heads, r));
    outcome = codec::worse(
        outcome, decode_usual<Block, Real>(
                     warp, head, [&](int lane) -> const TwoCodes<Code>& { return codes[lane].of[r]; },
                     [&](int lane) -> Two<Real>& { return numbers[lane]; }, usual));
    if (usual)
      warp.each([&](int lane) { put(lane, turn.first + r); });
    else
      unusual |= 1U << r;
  }
  tell(fault, outcome);
  WEFT_KEEP_LOOP
  for (int r = 0; unusual >> r != 0; ++r) {
    if ((unusual >> r & 1U) == 0) continue;
    Two<Real>* const to = tile.numbers[turn.first + r];
    warp.first([&] {
      const std::byte* const row = rows + tile.in_rows[turn.first + r];
      tell(fault, decode_unusual<Block>(row + piece.head, row + piece.payload, piece.n, c.bits, to->of));
    });
    warp.each([&](int lane) {
      numbers[lane] = to[lane];
      put(lane, turn.first + r);
    });
  }
}

/// Calls `work(piece)` for a block, which the compiler knows to be whole if it is.
template <class Work>
WEFT_INLINE void with_piece(const CodedLoops& c, std::uint32_t i, int code_bytes, const Work& work) {
  if (is_whole(c, i))
    work(Piece<true>(c, i, code_bytes));
  else
    work(Piece<false>(c, i, code_bytes));
}

/// Encodes a group's share. `group` runs its threads in steps: `each(f)` calls f(thread) of all of them and
/// ends when they have, `each_warp(f)` f(warp, number) of its warps. Numbers whose neighbours in the box
/// belong to other rows go by way of the tile.
template <class Block, class Real, class Group>
WEFT_INLINE void encode(const CodedLoops& c, const CodingFault& fault, std::uint32_t number, Group& group,
                        Tile<Real>& tile, const std::byte* box, std::byte* rows) {
  const Share share(c, number);
  locate_rows(c, share, group, tile);
  if (c.across) {
    WEFT_KEEP_LOOP
    for (std::uint32_t i = share.begin; i < share.end; ++i)
      with_piece(c, i, Block::bytes, [&](const auto& piece) {
        group.each([&](int thread) { each_in_tile(c, piece, share, thread, tile, box, Load{}); });
        group.each_warp([&](auto& warp, int w) {
          encode_rows<Block, Real, true>(warp, Turn(share, w), piece, c, fault, tile, box, rows);
        });
      });
  } else {
    group.each_warp([&](auto& warp, int w) {
      WEFT_KEEP_LOOP
      for (std::uint32_t i = share.begin; i < share.end; ++i)
        with_piece(c, i, Block::bytes, [&](const auto& piece) {
          encode_rows<Block, Real, false>(warp, Turn(share, w), piece, c, fault, tile, box, rows);
        });
    });
  }
}

/// The same back.
template <class Block, class Real, class Group>
WEFT_INLINE void decode(const CodedLoops& c, const CodingFault& fault, std::uint32_t number, Group& group,
                        Tile<Real>& tile, std::byte* box, const std::byte* rows) {
  const Share share(c, number);
  locate_rows(c, share, group, tile);
  if (c.across) {
    WEFT_KEEP_LOOP
    for (std::uint32_t i = share.begin; i < share.end; ++i)
      with_piece(c, i, Block::bytes, [&](const auto& piece) {
        group.each_warp([&](auto& warp, int w) {
          decode_rows<Block, Real, true>(warp, Turn(share, w), piece, c, fault, tile, box, rows);
        });
        group.each([&](int thread) { each_in_tile(c, piece, share, thread, tile, box, Store{}); });
      });
  } else {
    group.each_warp([&](auto& warp, int w) {
      WEFT_KEEP_LOOP
      for (std::uint32_t i = share.begin; i < share.end; ++i)
        with_piece(c, i, Block::bytes, [&](const auto& piece) {
          decode_rows<Block, Real, false>(warp, Turn(share, w), piece, c, fault, tile, box, rows);
        });
    });
  }
}

}  // namespace weft::coding
