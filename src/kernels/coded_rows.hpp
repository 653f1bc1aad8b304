// Copies between a strided box and coded rows (codec/codec.hpp) by groups of threads, as kernels of devices
// do them: 32 or 64 rows at a time, of each one block, whose 64 numbers a warp codes. The functions are for
// devices and for the host, where tests run them thread by thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/arithmetic.hpp"
#include "codec/block.hpp"
#include "kernels/coded_loops.hpp"

namespace weft::coding {

inline constexpr int warp_threads = 32, warps = 8, threads = warp_threads * warps;
/// Rows that a warp codes, and a group: as many of floats as take the registers and the memory of doubles.
/// All that a warp codes it reads before it works on any.
template <class Real>
inline constexpr int warp_rows = 32 / static_cast<int>(sizeof(Real));
template <class Real>
inline constexpr int group_rows = warps* warp_rows<Real>;
/// Blocks are coded one after the other by a group while there are groups for every processor of a device.
inline constexpr Index enough_groups = 4096, most_together = 8;

/// A complex number, or two neighbours: what one thread codes.
template <class Real>
struct alignas(2 * sizeof(Real)) Two {
  Real of[2];
};
template <class Real, class Value>
struct ForRows {
  Value of[warp_rows<Real>];
};

/// What a group of threads shares. The padding keeps its threads from meeting in one bank of memory.
template <class Real>
struct Tile {
  Two<Real> numbers[group_rows<Real>][codec::block_reals / 2 + 1];
  Index in_box[group_rows<Real>], in_rows[group_rows<Real>];
};

/// Groups of threads that a copy takes.
inline Index groups(const CodedLoops& c) {
  return divided_up<Index>(c.rows, c.group_rows) * c.divisions;
}

/// The rows of a group, and the blocks of each.
template <class Real>
struct Share {
  Index first_row;
  int rows;
  std::uint32_t begin, end;

  /// Positions of groups have 32 bits, which devices divide quickly.
  WEFT_INLINE Share(const CodedLoops& c, std::uint32_t group) {
    const std::uint32_t which = group / c.divisions;
    constexpr int all = group_rows<Real>;
    first_row = static_cast<Index>(which) * all;
    rows = static_cast<int>(c.rows - first_row < all ? c.rows - first_row : all);
    begin = (group - which * c.divisions) * c.together;
    end = begin + c.together < c.blocks ? begin + c.together : c.blocks;
  }
};

/// A block of rows. Of a whole one, of complex numbers, compilers know the numbers that it has.
template <bool Whole>
struct Piece {
  Index head, payload;  ///< where those of the block are in their row, in bytes
  Index in_box;         ///< from the first copied point of a row in the box to the block's first number
  int n = codec::block_reals, lo = 0,
      hi = codec::block_reals;  ///< numbers of the block; those that are copied
  int point_reals = 2;

  /// Number `i` of those that are copied.
  WEFT_INLINE Piece(const CodedLoops& c, std::uint32_t i, int code_bytes) {
    constexpr Index block = codec::block_reals;
    const Index number = c.first_block + i;
    head = number * static_cast<Index>(sizeof(codec::Head));
    payload = c.heads + number * (block * code_bytes);
    in_box = c.box_start + i * c.box_step;
    if constexpr (!Whole) {
      const Index begin = number * block;
      n = static_cast<int>(c.reals - begin >= block ? block : c.reals - begin);
      lo = static_cast<int>(begin >= c.first ? 0 : c.first - begin);
      hi = c.last - begin >= n ? n : static_cast<int>(c.last - begin);
      point_reals = c.point_reals;
    }
  }
  WEFT_INLINE bool has(int i) const { return Whole || (i >= lo && i < hi); }
};

template <class Real, class Group>
WEFT_INLINE void locate_rows(const CodedLoops& c, const Share<Real>& share, Group& group, Tile<Real>& tile) {
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
WEFT_INLINE void each_in_tile(const CodedLoops& c, const Piece<Whole>& piece, const Share<Real>& share,
                              int thread, Tile<Real>& tile, Byte* box, const Copy& copy) {
  constexpr int all = group_rows<Real>;
  const int row = thread % all;
  if (row >= share.rows) return;
  constexpr int step = threads / all;
  const int first = thread / all;
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

/// The largest size of two numbers as `Extent` has it, with its lowest bit set unless both are zeros: nobody
/// asks for that bit.
template <class Real>
WEFT_INLINE std::int32_t size_of(const Two<Real>& two) {
  codec::Extent<Real> extent;
  for (const Real x : two.of) extent.add(x);
  return extent.largest | (extent.any != 0 ? 1 : 0);
}

template <class Code>
struct TwoCodes {
  Code of[2];
};

template <class Block>
WEFT_INLINE void store_two(std::byte* payload, int n, int lane, const TwoCodes<typename Block::Code>& two) {
  using W = codec::Words<Block::bytes>;
  const int i = 2 * lane;
  if (i + 1 < n)
    W::store_two(payload, n, i, two.of);
  else if (i < n)
    W::store(payload, n, i, two.of[0]);
}

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

template <class Block>
WEFT_INLINE std::uint32_t sum_of(const TwoCodes<typename Block::Code>& two) {
  using W = codec::Words<Block::bytes>;
  return W::sum(two.of[0]) + W::sum(two.of[1]);
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
template <class Real>
struct Turn {
  int first, count;
  WEFT_INLINE Turn(const Share<Real>& share, int warp)
      : first(warp * warp_rows<Real>), count(share.rows - first) {
    if (count > warp_rows<Real>) count = warp_rows<Real>;
  }
  WEFT_INLINE bool is_whole() const { return count == warp_rows<Real>; }
  template <bool Whole>
  WEFT_INLINE bool has(int r) const {
    return Whole || r < count;
  }
};

/// Encodes the blocks of a turn's rows, each by all lanes. What is the same for all of a block's numbers the
/// lane finds out whose number is that of the row.
template <class Block, class Real, bool Across, bool Whole, class Warp>
WEFT_INLINE void encode_rows(Warp& warp, const Turn<Real>& turn, const Piece<Whole>& piece,
                             const CodedLoops& c, const CodingFault& fault, Tile<Real>& tile,
                             const std::byte* box, std::byte* rows) {
  const Real scale = static_cast<Real>(c.factor);
  typename Warp::template Each<ForRows<Real, Two<Real>>> numbers;
  warp.each([&](int lane) {
    const std::byte* const from = box + lane_offset(c, piece, lane);
    WEFT_UNROLL
    for (int r = 0; r < warp_rows<Real>; ++r) {
      Two<Real>& two = numbers[lane].of[r];
      two = {{0, 0}};
      if (!turn.template has<Whole>(r)) continue;
      if (Across)
        two = tile.numbers[turn.first + r][lane];
      else
        each_in_box(c, piece, lane, two, from + tile.in_box[turn.first + r], Load{});
      for (int k = 0; k < 2; ++k) two.of[k] = piece.has(2 * lane + k) ? two.of[k] * scale : Real(0);
    }
  });
  typename Warp::template Each<std::int32_t> largest{};
  WEFT_UNROLL
  for (int r = 0; r < warp_rows<Real>; ++r) {
    const std::int32_t size = warp.largest([&](int lane) { return size_of(numbers[lane].of[r]); });
    warp.each([&](int lane) { largest[lane] = lane == r ? size : largest[lane]; });
  }
  typename Warp::template Each<int> shift{};
  const unsigned unusual = warp.where([&](int lane) {
    codec::Extent<Real> extent;
    extent.largest = largest[lane];
    extent.any = static_cast<typename codec::Ieee<Real>::Bits>(largest[lane]);
    const bool usual = Block::is_usual(extent, shift[lane]);
    if (!usual) shift[lane] = 0;
    return !usual;
  });
  typename Warp::template Each<std::uint32_t> sums{};
  WEFT_UNROLL
  for (int r = 0; r < warp_rows<Real>; ++r) {
    if (!turn.template has<Whole>(r)) continue;
    Real factor = 1;
    if constexpr (Block::divides)
      factor = codec::power_of_two<Real>(-warp.from([&](int lane) { return shift[lane]; }, r));
    std::byte* const payload = rows + tile.in_rows[turn.first + r] + piece.payload;
    const std::uint32_t sum = warp.sum([&](int lane) {
      TwoCodes<typename Block::Code> two;
      for (int k = 0; k < 2; ++k) two.of[k] = Block::code(numbers[lane].of[r].of[k], factor, c.bits);
      store_two<Block>(payload, piece.n, lane, two);
      return sum_of<Block>(two);
    });
    warp.each([&](int lane) { sums[lane] = lane == r ? sum : sums[lane]; });
  }
  warp.each([&](int lane) {
    if (lane >= turn.count) return;
    codec::aligned_store(rows + tile.in_rows[turn.first + lane] + piece.head,
                         codec::same_bits<std::uint32_t>(codec::head_of(shift[lane], sums[lane])));
  });
  if (unusual == 0) return;
  // Once more, by one thread.
  WEFT_UNROLL
  for (int r = 0; r < warp_rows<Real>; ++r) {
    if ((unusual >> r & 1U) == 0) continue;
    Two<Real>* const row_numbers = tile.numbers[turn.first + r];
    warp.each([&](int lane) { row_numbers[lane] = numbers[lane].of[r]; });
    warp.first([&] {
      std::byte* const row = rows + tile.in_rows[turn.first + r];
      tell(fault,
           encode_unusual<Block>(row_numbers[0].of, piece.n, c.bits, row + piece.head, row + piece.payload));
    });
  }
}

/// The same back. Blocks that are not usual are decoded twice, the second time by one thread.
template <class Block, class Real, bool Across, bool Whole, class Warp>
WEFT_INLINE void decode_rows(Warp& warp, const Turn<Real>& turn, const Piece<Whole>& piece,
                             const CodedLoops& c, const CodingFault& fault, Tile<Real>& tile, std::byte* box,
                             const std::byte* rows) {
  using Code = typename Block::Code;
  typename Warp::template Each<codec::Head> heads{};
  typename Warp::template Each<ForRows<Real, TwoCodes<Code>>> codes;
  warp.each([&](int lane) {
    if (lane < turn.count)
      heads[lane] = codec::same_bits<codec::Head>(
          codec::aligned_load<std::uint32_t>(rows + tile.in_rows[turn.first + lane] + piece.head));
    WEFT_UNROLL
    for (int r = 0; r < warp_rows<Real>; ++r) {
      codes[lane].of[r] = {};
      if (!turn.template has<Whole>(r)) continue;
      const std::byte* const row = rows + tile.in_rows[turn.first + r];
      codes[lane].of[r] = load_two<Block>(row + piece.payload, piece.n, lane);
    }
  });
  typename Warp::template Each<std::uint32_t> sums{};
  WEFT_UNROLL
  for (int r = 0; r < warp_rows<Real>; ++r) {
    const std::uint32_t sum = warp.sum([&](int lane) { return sum_of<Block>(codes[lane].of[r]); });
    warp.each([&](int lane) { sums[lane] = lane == r ? sum : sums[lane]; });
  }
  const unsigned unusual = warp.where([&](int lane) {
    if (lane >= turn.count) return false;
    const bool sound = codec::fits(heads[lane], sums[lane]);
    tell(fault, sound ? codec::Outcome::good : codec::Outcome::damaged);
    return sound && !Block::is_usual(heads[lane]);
  });
  const auto put = [&](int lane, int row, Two<Real>& two) {
    if (Across)
      tile.numbers[row][lane] = two;
    else
      each_in_box(c, piece, lane, two, box + lane_offset(c, piece, lane) + tile.in_box[row], Store{});
  };
  WEFT_UNROLL
  for (int r = 0; r < warp_rows<Real>; ++r) {
    if (!turn.template has<Whole>(r)) continue;
    const auto factor =
        codec::power_of_two<Real>(warp.from([&](int lane) { return int{heads[lane].shift}; }, r));
    warp.each([&](int lane) {
      Two<Real> two;
      for (int k = 0; k < 2; ++k) two.of[k] = Block::number(codes[lane].of[r].of[k], factor);
      put(lane, turn.first + r, two);
    });
  }
  if (unusual == 0) return;
  WEFT_KEEP_LOOP
  for (int r = 0; r < warp_rows<Real>; ++r) {
    if ((unusual >> r & 1U) == 0) continue;
    Two<Real>* const numbers = tile.numbers[turn.first + r];
    warp.first([&] {
      const std::byte* const row = rows + tile.in_rows[turn.first + r];
      tell(fault,
           decode_unusual<Block>(row + piece.head, row + piece.payload, piece.n, c.bits, numbers[0].of));
    });
    warp.each([&](int lane) { put(lane, turn.first + r, numbers[lane]); });
  }
}

/// Calls `work(piece)` for a block, which the compiler knows to be whole if it is and all of its `rows` are
/// there.
template <class Work>
WEFT_INLINE void with_piece(const CodedLoops& c, std::uint32_t i, int code_bytes, bool rows,
                            const Work& work) {
  if (rows && i >= c.whole_begin && i < c.whole_end)
    work(Piece<true>(c, i, code_bytes));
  else
    work(Piece<false>(c, i, code_bytes));
}

/// Encodes a group's share of the rows, or decodes it. `group` runs its threads in steps: `each(f)` calls
/// f(thread) of all of them and ends when they have, `each_warp(f)` f(warp, number) of its warps. Numbers
/// whose neighbours in the box belong to other rows go by way of the tile.
template <bool Encodes, class Block, class Real, class Group>
WEFT_INLINE void code(const CodedLoops& c, const CodingFault& fault, std::uint32_t number, Group& group,
                      Tile<Real>& tile, std::byte* to, const std::byte* from) {
  const Share<Real> share(c, number);
  locate_rows(c, share, group, tile);
  const auto code_rows = [&](auto across, auto& warp, int w, std::uint32_t i) {
    const Turn<Real> turn(share, w);
    if (turn.count <= 0) return;
    with_piece(c, i, Block::bytes, turn.is_whole(), [&]<bool Whole>(const Piece<Whole>& piece) {
      if constexpr (Encodes)
        encode_rows<Block, Real, across.value>(warp, turn, piece, c, fault, tile, from, to);
      else
        decode_rows<Block, Real, across.value>(warp, turn, piece, c, fault, tile, to, from);
    });
  };
  if (!c.across)
    return group.each_warp([&](auto& warp, int w) {
      WEFT_KEEP_LOOP
      for (std::uint32_t i = share.begin; i < share.end; ++i) code_rows(std::false_type(), warp, w, i);
    });
  const auto copy_tile = [&](std::uint32_t i, auto* box, const auto& copy) {
    with_piece(c, i, Block::bytes, true, [&](const auto& piece) {
      group.each([&](int thread) { each_in_tile(c, piece, share, thread, tile, box, copy); });
    });
  };
  WEFT_KEEP_LOOP
  for (std::uint32_t i = share.begin; i < share.end; ++i) {
    if constexpr (Encodes) copy_tile(i, from, Load{});
    group.each_warp([&](auto& warp, int w) { code_rows(std::true_type(), warp, w, i); });
    if constexpr (!Encodes) copy_tile(i, to, Store{});
  }
}

}  // namespace weft::coding
