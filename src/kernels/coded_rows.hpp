// Copies between a strided box and coded rows (codec/codec.hpp) by groups of threads, as kernels of devices
// do them: eight rows at a time, of each one block, whose 64 numbers a warp codes. The functions are for
// devices and for the host, where tests run them thread by thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/block.hpp"
#include "codec/codec.hpp"
#include "weft/axis_vector.hpp"

namespace weft {

/// What a copy is, of which one side is coded in rows.
struct CodedRequest {
  Codec codec;
  bool encodes = false;
  int real_bytes = 8, element_bytes = 16;
  Shape extents;                ///< of the copied box
  Strides box_strides;          ///< elements
  Strides row_strides;          ///< bytes; that along `axis` does not count
  int axis = 0;                 ///< of the rows
  Index points = 0, first = 0;  ///< of a row, and where in it the box begins; whole blocks to encode
  double factor = 1;            ///< encoding: what the elements are multiplied by
};

/// The same as loops.
struct CodedLoops {
  struct Loop {
    Index n = 1, box = 0, row = 0;  ///< strides in bytes
  };
  /// Around the rows; the first one has the shortest stride in the box.
  Loop loops[max_axes] = {};  // a plain array, which devices can index
  int count = 0;
  Index rows = 1;                        ///< all of them; 0: there is nothing to copy
  Index reals = 0, first = 0, last = 0;  ///< of a row, and those that are copied
  Index stride = 0;                      ///< bytes in the box from one point of a row to the next
  int point_reals = 1;                   ///< 2: complex numbers
  int bits = 0;                          ///< of the codec
  double factor = 1;

  explicit CodedLoops(const CodedRequest& request);
  /// Where a row begins in the box and among the rows, in bytes.
  WEFT_INLINE void locate(Index row, Index& in_box, Index& in_rows) const {
    in_box = in_rows = 0;
    for (int i = 0; i < count; ++i) {
      const Loop& loop = loops[i];
      const Index rest = i + 1 < count ? row / loop.n : 0, at = row - rest * loop.n;
      in_box += at * loop.box;
      in_rows += at * loop.row;
      row = rest;
    }
  }
};

/// What a failure is told by: `*at` becomes `name` plus the outcome, if one of the blocks is not good.
struct CodingFault {
  std::uint32_t* at = nullptr;
  std::uint32_t name = 0;
};

namespace coding {

inline constexpr int warp_threads = 32, warps = 8, threads = warp_threads * warps;

/// What a group of threads shares. The padding keeps its threads from meeting in one bank of memory.
template <class Real>
struct Tile {
  Real numbers[warps][codec::block_reals + 1];
  Index in_box[warps], in_rows[warps];
};

/// Groups of threads that a copy takes.
inline Index groups(const CodedLoops& c) {
  if (c.rows == 0 || c.first == c.last) return 0;
  const Index blocks = (c.last + codec::block_reals - 1) / codec::block_reals - c.first / codec::block_reals;
  return (c.rows + warps - 1) / warps * blocks;
}

/// The block of a row that a group codes, and the rows.
struct Share {
  Index first_row, begin;  ///< begin: of the block, in its row
  int rows, n;             ///< numbers of the block
  int lo, hi;              ///< those of the block that are copied

  /// Positions of groups have 32 bits, which devices divide quickly.
  WEFT_INLINE Share(const CodedLoops& c, std::uint32_t group) {
    constexpr Index block = codec::block_reals;
    const auto blocks = static_cast<std::uint32_t>((c.last + block - 1) / block - c.first / block);
    first_row = static_cast<Index>(group / blocks) * warps;
    begin = (c.first / block + group % blocks) * block;
    rows = static_cast<int>(c.rows - first_row < warps ? c.rows - first_row : warps);
    n = static_cast<int>(c.reals - begin < block ? c.reals - begin : block);
    lo = static_cast<int>(c.first > begin ? c.first - begin : 0);
    hi = static_cast<int>(c.last - begin < n ? c.last - begin : n);
  }
};

/// Calls `copy(row, point)` for what a thread copies between box and tile, neighbours in the box by threads
/// that are neighbours.
template <class Copy>
WEFT_INLINE void each_point(const CodedLoops& c, const Share& share, int thread, const Copy& copy) {
  const int points = codec::block_reals / c.point_reals;
  const bool across = c.count > 0 && c.loops[0].box < c.stride;
  for (int i = thread; i < warps * points; i += threads) {
    const int row = across ? i % warps : i / points, point = across ? i / warps : i % points;
    if (row < share.rows && point * c.point_reals >= share.lo && point * c.point_reals < share.hi)
      copy(row, point);
  }
}

template <class Real, class Group>
WEFT_INLINE void locate_rows(const CodedLoops& c, const Share& share, Group& group, Tile<Real>& tile) {
  group.each([&](int thread) {
    if (thread < share.rows) c.locate(share.first_row + thread, tile.in_box[thread], tile.in_rows[thread]);
  });
}

/// A complex number, which begins at a multiple of its size.
template <class Real>
struct alignas(2 * sizeof(Real)) Complex {
  Real of[2];
};

/// Where the number behind `point` is, from the start of its row in the box.
WEFT_INLINE Index offset_of(const CodedLoops& c, const Share& share, int point) {
  return (share.begin - c.first + point * c.point_reals) / c.point_reals * c.stride;
}

template <class Block, class Real, class Warp>
WEFT_INLINE codec::Outcome encode_block(Warp& warp, const Real* numbers, int n, int bits, std::byte* head_at,
                                        std::byte* payload) {
  using W = codec::Words<Block::bytes>;
  typename Warp::template Each<std::int32_t> largest;
  typename Warp::template Each<typename codec::Ieee<Real>::Bits> any;
  warp.each([&](int lane) {
    codec::Extent<Real> two;
    for (int i = 2 * lane; i < 2 * lane + 2 && i < n; ++i) two.add(numbers[i]);
    largest[lane] = two.largest;
    any[lane] = two.any;
  });
  codec::Extent<Real> extent;
  extent.largest = warp.largest(largest);
  extent.any = warp.any(any);
  int shift = 0;
  codec::Outcome outcome = codec::Outcome::good;
  codec::Head head{};
  if (!Block::is_usual(extent, shift)) {
    warp.first([&] {
      outcome = Block::encode(numbers, n, bits, &head, payload);
      codec::aligned_store(head_at, codec::same_bits<std::uint32_t>(head));
    });
    return outcome;
  }
  const Real factor = codec::power_of_two<Real>(-shift);
  typename Warp::template Each<std::uint32_t> sums;
  warp.each([&](int lane) {
    std::uint32_t sum = 0;
    std::uint64_t codes[2] = {0, 0};
    const int i = 2 * lane, count = n - i < 2 ? n - i : 2;
    for (int k = 0; k < count; ++k) {
      codes[k] = Block::code(numbers[i + k], factor, bits);
      sum += W::sum(codes[k]);
    }
    if (count == 2)
      W::store_two(payload, n, i, codes);
    else if (count == 1)
      W::store(payload, n, i, codes[0]);
    sums[lane] = sum;
  });
  const std::uint32_t sum = warp.sum(sums);
  warp.first([&] {
    head = codec::head_of(shift, sum);
    codec::aligned_store(head_at, codec::same_bits<std::uint32_t>(head));
  });
  return outcome;
}

template <class Block, class Real, class Warp>
WEFT_INLINE codec::Outcome decode_block(Warp& warp, const std::byte* head_at, const std::byte* payload, int n,
                                        int bits, Real* numbers) {
  using W = codec::Words<Block::bytes>;
  const auto head = codec::same_bits<codec::Head>(codec::aligned_load<std::uint32_t>(head_at));
  struct Two {
    typename Block::Code of[2];
  };
  typename Warp::template Each<Two> codes;
  typename Warp::template Each<std::uint32_t> sums;
  warp.each([&](int lane) {
    std::uint32_t sum = 0;
    for (int k = 0; k < 2; ++k) {
      const int i = 2 * lane + k;
      codes[lane].of[k] = 0;
      if (i >= n) continue;
      codes[lane].of[k] = W::template load<typename Block::Code>(payload, n, i);
      sum += W::sum(codes[lane].of[k]);
    }
    sums[lane] = sum;
  });
  if (!codec::fits(head, warp.sum(sums))) return codec::Outcome::damaged;
  codec::Outcome outcome = codec::Outcome::good;
  if (!Block::is_usual(head)) {
    warp.first([&] { outcome = Block::decode(head, payload, n, 0, n, bits, numbers); });
    return outcome;
  }
  const Real factor = codec::power_of_two<Real>(head.shift);
  warp.each([&](int lane) {
    for (int k = 0; k < 2; ++k)
      if (const int i = 2 * lane + k; i < n) numbers[i] = Block::number(codes[lane].of[k], factor);
  });
  return outcome;
}

/// Encodes one block of up to eight rows. `group` runs its threads in steps: `each(f)` calls f(thread) of all
/// of them and ends when they have, `each_warp(f)` f(warp, number) of its warps.
template <class Block, class Real, class Group>
WEFT_INLINE void encode(const CodedLoops& c, const CodingFault& fault, std::uint32_t number, Group& group,
                        Tile<Real>& tile, const std::byte* box, std::byte* rows) {
  const Share share(c, number);
  locate_rows(c, share, group, tile);
  const Real factor = static_cast<Real>(c.factor);
  group.each([&](int thread) {
    each_point(c, share, thread, [&](int row, int point) {
      Real* const to = tile.numbers[row] + point * c.point_reals;
      const std::byte* const from = box + tile.in_box[row] + offset_of(c, share, point);
      if (c.point_reals == 2) {
        const auto z = codec::aligned_load<Complex<Real>>(from);
        to[0] = z.of[0] * factor;
        to[1] = z.of[1] * factor;
      } else {
        to[0] = codec::aligned_load<Real>(from) * factor;
      }
    });
  });
  group.each_warp([&](auto& warp, int w) {
    if (w >= share.rows) return;
    std::byte* const row = rows + tile.in_rows[w];
    const codec::Outcome outcome = encode_block<Block>(
        warp, tile.numbers[w], share.n, c.bits, row + share.begin / codec::block_reals * 4,
        row + codec::heads_bytes(c.reals) + share.begin * Block::bytes);
    if (outcome != codec::Outcome::good) *fault.at = fault.name + static_cast<std::uint32_t>(outcome);
  });
}

/// The same back.
template <class Block, class Real, class Group>
WEFT_INLINE void decode(const CodedLoops& c, const CodingFault& fault, std::uint32_t number, Group& group,
                        Tile<Real>& tile, std::byte* box, const std::byte* rows) {
  const Share share(c, number);
  locate_rows(c, share, group, tile);
  group.each_warp([&](auto& warp, int w) {
    if (w >= share.rows) return;
    const std::byte* const row = rows + tile.in_rows[w];
    const codec::Outcome outcome = decode_block<Block>(
        warp, row + share.begin / codec::block_reals * 4,
        row + codec::heads_bytes(c.reals) + share.begin * Block::bytes, share.n, c.bits, tile.numbers[w]);
    if (outcome != codec::Outcome::good) *fault.at = fault.name + static_cast<std::uint32_t>(outcome);
  });
  group.each([&](int thread) {
    each_point(c, share, thread, [&](int row, int point) {
      const Real* const from = tile.numbers[row] + point * c.point_reals;
      std::byte* const to = box + tile.in_box[row] + offset_of(c, share, point);
      if (c.point_reals == 2)
        codec::aligned_store(to, Complex<Real>{{from[0], from[1]}});
      else
        codec::aligned_store(to, from[0]);
    });
  });
}

}  // namespace coding

}  // namespace weft
