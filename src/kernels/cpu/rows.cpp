#include "kernels/cpu/rows.hpp"

#include <algorithm>
#include <array>

#include "codec/blocks.hpp"
#include "codec/zfp.hpp"
#include "kernels/cpu/zfp.hpp"

namespace weft {

namespace {

using codec::block_reals;
using codec::Head;
using codec::Outcome;

/// Blocks whose numbers take whole bytes (codec/scaled.hpp, codec/trim.hpp).
template <class Block>
struct Bytes {
  int bits;
  explicit Bytes(const RowManner& manner) : bits(manner.bits) {}
  static Index offset(Index at) { return at * Block::bytes; }
  template <class Real>
  WEFT_INLINE Outcome encode(const Real* reals, int n, Head* head, std::byte* payload) const {
    return Block::encode(reals, n, bits, head, payload);
  }
  template <class Real>
  WEFT_INLINE Outcome decode(const Head& head, const std::byte* payload, int n, int first, int last,
                             Real* reals) const {
    return Block::decode(head, payload, n, first, last, bits, reals);
  }
};

template <ZfpMode Mode>
struct Zfp {
  const RowManner& manner;
  explicit Zfp(const RowManner& m) : manner(m) {}
  Index offset(Index at) const {
    const int bits = Mode == ZfpMode::rate ? manner.bits : codec::zfp_accuracy_room_bits(manner.bits);
    return at * bits / 8;
  }
  template <class Real>
  Outcome encode(const Real* reals, int n, Head* head, std::byte* payload) const {
    return manner.zfp->encode(Mode, reals, n, manner, head, payload);
  }
  template <class Real>
  Outcome decode(const Head& head, const std::byte* payload, int n, int first, int last, Real* reals) const {
    return manner.zfp->decode(Mode, head, payload, n, first, last, manner, reals);
  }
};

template <class Blocks, class Real>
WEFT_INLINE Outcome encode_row(const std::byte* from, Index first, Index last, Index reals,
                               const RowManner& manner, std::byte* row) {
  const Blocks blocks(manner);
  const auto* numbers = reinterpret_cast<const Real*>(from);
  std::byte* const payload = row + codec::heads_bytes(reals);
  Outcome outcome = Outcome::good;
  for (Index at = first; at < last; at += block_reals, numbers += block_reals) {
    Head head;
    std::byte* const to = payload + blocks.offset(at);
    // The length of whole blocks is known to the compiler.
    const Outcome block = last - at >= block_reals
                              ? blocks.encode(numbers, block_reals, &head, to)
                              : blocks.encode(numbers, static_cast<int>(last - at), &head, to);
    outcome = codec::worse(outcome, block);
    std::memcpy(row + at / block_reals * 4, &head, sizeof head);
  }
  return outcome;
}

template <class Blocks, class Real>
WEFT_INLINE Outcome decode_row(const std::byte* row, Index reals, Index first, Index last,
                               const RowManner& manner, std::byte* to) {
  const Blocks blocks(manner);
  auto* numbers = reinterpret_cast<Real*>(to);
  const std::byte* const payload = row + codec::heads_bytes(reals);
  Outcome outcome = Outcome::good;
  for (Index at = first / block_reals * block_reals; at < last; at += block_reals) {
    Head head;
    std::memcpy(&head, row + at / block_reals * 4, sizeof head);
    const std::byte* const from = payload + blocks.offset(at);
    const bool whole = reals - at >= block_reals;
    const int n = whole ? block_reals : static_cast<int>(reals - at);
    const int begin = static_cast<int>(std::max<Index>(first - at, 0));
    const int end = static_cast<int>(std::min<Index>(last - at, n));
    const Outcome block = begin == 0 && end == block_reals
                              ? blocks.decode(head, from, block_reals, 0, block_reals, numbers)
                          : whole ? blocks.decode(head, from, block_reals, begin, end, numbers)
                                  : blocks.decode(head, from, n, begin, end, numbers);
    outcome = codec::worse(outcome, block);
    numbers += end - begin;
  }
  return outcome;
}

/// An instruction set has a function that is compiled for it and calls what it is given.
struct Portable {
  static bool runs_here() { return true; }
  template <auto Function, class... Args>
  static Outcome call(Args... args) {
    return Function(args...);
  }
};

#if defined(__x86_64__) && defined(__GNUC__)
struct Avx2 {
  static bool runs_here() { return __builtin_cpu_supports("avx2") != 0; }
  template <auto Function, class... Args>
  __attribute__((target("avx2"))) static Outcome call(Args... args) {
    return Function(args...);
  }
};

// Clang, which uses the whole width by itself, would ignore an attribute with a word that it does not know.
#if defined(__clang__)
#define WEFT_AVX512 "avx512f,avx512bw,avx512dq,avx512vl"
#else
#define WEFT_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"
#endif

struct Avx512 {
  static bool runs_here() {
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  }
  template <auto Function, class... Args>
  __attribute__((target(WEFT_AVX512))) static Outcome call(Args... args) {
    return Function(args...);
  }
};
#endif

template <class Set, class Blocks, class Real>
RowCoder coder_of_blocks() {
  return {Set::template call<encode_row<Blocks, Real>, const std::byte*, Index, Index, Index,
                             const RowManner&, std::byte*>,
          Set::template call<decode_row<Blocks, Real>, const std::byte*, Index, Index, Index,
                             const RowManner&, std::byte*>};
}

template <class Set, class Real>
RowCoder coder_for(const Codec& codec) {
  if (codec.row->varies) return coder_of_blocks<Portable, Zfp<ZfpMode::accuracy>, Real>();
  if (codec.row->by_library) return coder_of_blocks<Portable, Zfp<ZfpMode::rate>, Real>();
  // A trim that cuts nothing is never coded.
  if (codec.row->wire_bits(codec.bits, sizeof(Real)) >= 8 * static_cast<int>(sizeof(Real))) return {};
  return codec::with_block<Real>(codec,
                                 []<class Block>() { return coder_of_blocks<Set, Bytes<Block>, Real>(); });
}

template <class Set>
RowKernel kernel(const char* name) {
  return {name, Set::runs_here, [](const Codec& codec, int real_bytes) {
            return real_bytes == 8 ? coder_for<Set, double>(codec) : coder_for<Set, float>(codec);
          }};
}

}  // namespace

std::span<const RowKernel> row_kernels() {
  static const std::array table {
#if defined(__x86_64__) && defined(__GNUC__)
    kernel<Avx512>("avx512"), kernel<Avx2>("avx2"),
#endif
        kernel<Portable>("portable")
  };
  return table;
}

RowCoder row_coder(const Codec& codec, int real_bytes) {
  static const RowKernel& best =
      *std::ranges::find_if(row_kernels(), [](const RowKernel& k) { return k.runs_here(); });
  return best.coder(codec, real_bytes);
}

}  // namespace weft
