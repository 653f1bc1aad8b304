#include "kernels/cpu/permute_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace weft {

namespace {

/// The unit of copying; only its size matters. Eight bytes may be a pair of floats, aligned like one.
template <int Bytes>
struct alignas(Bytes == 16 ? 8 : 4) Word {
  std::array<unsigned char, Bytes> bytes;
};

/// Side of the blocks in which a transposition walks, in elements: both sides of a block stay in the first
/// cache.
constexpr Index block = 16;

}  // namespace

PermuteCopy::PermuteCopy(const Shape& extents, const Strides& from, const Strides& to, int element_bytes)
    : element_bytes_(element_bytes) {
  for (int a = 0; a < extents.size(); ++a) {
    empty_ = empty_ || extents[a] <= 0;
    if (extents[a] > 1) loops_[static_cast<std::size_t>(count_++)] = {extents[a], from[a], to[a]};
  }
  const auto begin = loops_.begin();
  std::stable_sort(begin, begin + count_, [](const Loop& x, const Loop& y) { return x.to > y.to; });
  int kept = 0;
  for (int i = 0; i < count_; ++i) {
    const Loop inner = loops_[static_cast<std::size_t>(i)];
    if (kept > 0) {
      Loop& outer = loops_[static_cast<std::size_t>(kept - 1)];
      if (outer.from == inner.from * inner.n && outer.to == inner.to * inner.n) {
        outer = {outer.n * inner.n, inner.from, inner.to};
        continue;
      }
    }
    loops_[static_cast<std::size_t>(kept++)] = inner;
  }
  count_ = kept;
  if (count_ == 0) loops_[static_cast<std::size_t>(count_++)] = {1, 1, 1};
  // If another loop than the innermost is the fast one of the source, both become the inner pair.
  const auto fast =
      std::min_element(begin, begin + count_, [](const Loop& x, const Loop& y) { return x.from < y.from; });
  if (fast != begin + count_ - 1) {
    std::rotate(fast, fast + 1, begin + count_ - 1);
    transposes_ = true;
  }
}

template <class W, class Inner>
void PermuteCopy::outer_loops(const W* from, W* to, int inner, const Inner& body) const {
  const int outer = count_ - inner;
  std::array<Index, max_axes> i{};
  for (;;) {
    body(from, to);
    int a = outer - 1;
    for (; a >= 0; --a) {
      const auto s = static_cast<std::size_t>(a);
      from += loops_[s].from;
      to += loops_[s].to;
      if (++i[s] < loops_[s].n) break;
      from -= loops_[s].n * loops_[s].from;
      to -= loops_[s].n * loops_[s].to;
      i[s] = 0;
    }
    if (a < 0) return;
  }
}

template <class W>
void PermuteCopy::run_as(const W* from, W* to) const {
  const Loop last = loops_[static_cast<std::size_t>(count_ - 1)];
  if (!transposes_) {
    if (last.from == 1 && last.to == 1) {
      outer_loops(from, to, 1,
                  [&](const W* f, W* t) { std::memcpy(t, f, static_cast<std::size_t>(last.n) * sizeof(W)); });
    } else {
      outer_loops(from, to, 1, [&](const W* f, W* t) {
        for (Index i = 0; i < last.n; ++i) t[i * last.to] = f[i * last.from];
      });
    }
    return;
  }
  const Loop other = loops_[static_cast<std::size_t>(count_ - 2)];
  outer_loops(from, to, 2, [&](const W* f, W* t) {
    for (Index ib = 0; ib < other.n; ib += block)
      for (Index jb = 0; jb < last.n; jb += block) {
        const Index ie = std::min(other.n, ib + block), je = std::min(last.n, jb + block);
        for (Index i = ib; i < ie; ++i)
          for (Index j = jb; j < je; ++j) t[i * other.to + j * last.to] = f[i * other.from + j * last.from];
      }
  });
}

void PermuteCopy::run(const std::byte* from, std::byte* to) const {
  if (empty_) return;
  switch (element_bytes_) {
    case 4:
      return run_as(reinterpret_cast<const Word<4>*>(from), reinterpret_cast<Word<4>*>(to));
    case 8:
      return run_as(reinterpret_cast<const Word<8>*>(from), reinterpret_cast<Word<8>*>(to));
    default:
      return run_as(reinterpret_cast<const Word<16>*>(from), reinterpret_cast<Word<16>*>(to));
  }
}

}  // namespace weft
