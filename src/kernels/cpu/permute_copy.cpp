#include "kernels/cpu/permute_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "geometry/grid.hpp"
#include "kernels/cpu/lines.hpp"

namespace weft {

namespace {

/// The unit of copying; only its size matters. Eight bytes may be a pair of floats, aligned like one.
template <int Bytes>
struct alignas(Bytes == 16 ? 8 : 4) Word {
  std::array<unsigned char, Bytes> bytes;
};

/// Side, in elements, of the blocks of a transposition. Source and destination of a block fit the first-level
/// cache.
constexpr Index block = 16;

/// The share of the threads' time in use from which on no loop further inside is considered.
constexpr double good_balance = 0.85;

/// Copies elements unchanged.
template <int Bytes>
struct Copied {
  using Element = Word<Bytes>;
  void one(const Element& from, Element& to) const { to = from; }
  void line(const Element* from, Element* to, Index n) const {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(Element));
  }
};

/// The same with non-temporal stores.
template <int Bytes>
struct StoredPast : Copied<Bytes> {
  using Element = Word<Bytes>;
  const LineKernel& kernel = line_kernel();
  void line(const Element* from, Element* to, Index n) const {
    kernel.store_past(reinterpret_cast<const std::byte*>(from), reinterpret_cast<std::byte*>(to),
                      static_cast<std::size_t>(n) * sizeof(Element));
  }
};

/// The same with prefetches.
template <int Bytes>
struct LoadedAhead : Copied<Bytes> {
  using Element = Word<Bytes>;
  std::ptrdiff_t ahead;
  const LineKernel& kernel = line_kernel();
  void line(const Element* from, Element* to, Index n) const {
    kernel.load_ahead(reinterpret_cast<const std::byte*>(from), reinterpret_cast<std::byte*>(to),
                      static_cast<std::size_t>(n) * sizeof(Element), ahead);
  }
};

/// Copies elements of `Count` real numbers and multiplies them. The numbers are read and written as bytes,
/// because other code accesses the same memory as words.
template <class Real, int Count>
struct Multiplied {
  using Element = Word<static_cast<int>(sizeof(Real)) * Count>;
  Real factor;

  void one(const Element& from, Element& to) const {
    Real reals[Count];
    std::memcpy(reals, &from, sizeof from);
    for (Real& r : reals) r *= factor;
    std::memcpy(&to, reals, sizeof to);
  }
  void line(const Element* from, Element* to, Index n) const {
    const auto* f = reinterpret_cast<const std::byte*>(from);
    auto* t = reinterpret_cast<std::byte*>(to);
    for (Index i = 0; i < n * Count; ++i) {
      Real r;
      std::memcpy(&r, f + i * static_cast<Index>(sizeof r), sizeof r);
      r *= factor;
      std::memcpy(t + i * static_cast<Index>(sizeof r), &r, sizeof r);
    }
  }
};

}  // namespace

PermuteCopy::PermuteCopy(const Shape& extents, const Strides& from, const Strides& to, int element_bytes,
                         const CopyManner& manner)
    : loops_(copy_loops(extents, from, to)), element_bytes_(element_bytes), manner_(manner) {}

template <class W, class Inner>
void PermuteCopy::outer_loops(const W* from, W* to, int inner, const Inner& body) const {
  const int outer = loops_.count - inner;
  std::array<Index, max_axes> i{};
  for (;;) {
    body(from, to);
    int a = outer - 1;
    for (; a >= 0; --a) {
      const CopyLoop& loop = loops_[a];
      from += loop.from;
      to += loop.to;
      if (++i[static_cast<std::size_t>(a)] < loop.n) break;
      from -= loop.n * loop.from;
      to -= loop.n * loop.to;
      i[static_cast<std::size_t>(a)] = 0;
    }
    if (a < 0) return;
  }
}

template <class Move>
void PermuteCopy::run_with(const std::byte* from_bytes, std::byte* to_bytes, const Move& move) const {
  using W = typename Move::Element;
  const W* from = reinterpret_cast<const W*>(from_bytes);
  W* to = reinterpret_cast<W*>(to_bytes);
  const CopyLoop last = loops_.innermost();
  if (!loops_.transposes) {
    if (last.from == 1 && last.to == 1) {
      outer_loops(from, to, 1, [&](const W* f, W* t) { move.line(f, t, last.n); });
    } else {
      outer_loops(from, to, 1, [&](const W* f, W* t) {
        for (Index i = 0; i < last.n; ++i) move.one(f[i * last.from], t[i * last.to]);
      });
    }
    return;
  }
  const CopyLoop other = loops_[loops_.count - 2];
  outer_loops(from, to, 2, [&](const W* f, W* t) {
    for (Index ib = 0; ib < other.n; ib += block)
      for (Index jb = 0; jb < last.n; jb += block) {
        const Index ie = std::min(other.n, ib + block), je = std::min(last.n, jb + block);
        for (Index i = ib; i < ie; ++i)
          for (Index j = jb; j < je; ++j)
            move.one(f[i * other.from + j * last.from], t[i * other.to + j * last.to]);
      }
  });
}

void PermuteCopy::run(const std::byte* from, std::byte* to) const {
  if (loops_.empty) return;
  if (manner_.factor != 1) {
    const auto factor = static_cast<float>(manner_.factor);
    if (manner_.real_bytes == 4) {
      if (element_bytes_ == 4) return run_with(from, to, Multiplied<float, 1>{factor});
      return run_with(from, to, Multiplied<float, 2>{factor});
    }
    if (element_bytes_ == 8) return run_with(from, to, Multiplied<double, 1>{manner_.factor});
    return run_with(from, to, Multiplied<double, 2>{manner_.factor});
  }
  if (manner_.store_past) {
    with_size([&]<int Bytes>() { run_with(from, to, StoredPast<Bytes>{}); });
    line_kernel().fence();
  } else if (manner_.load_ahead) {
    with_size([&]<int Bytes>() { run_with(from, to, LoadedAhead<Bytes>{{}, ahead()}); });
  } else {
    with_size([&]<int Bytes>() { run_with(from, to, Copied<Bytes>{}); });
  }
}

/// Calls `f` for the size of the elements.
template <class F>
void PermuteCopy::with_size(const F& f) const {
  switch (element_bytes_) {
    case 4:
      return f.template operator()<4>();
    case 8:
      return f.template operator()<8>();
    default:
      return f.template operator()<16>();
  }
}

/// The distance of prefetches in bytes: about a page, in whole lines of the copy.
std::ptrdiff_t PermuteCopy::ahead() const {
  constexpr Index far = 4096;
  const CopyLoop line = loops_.innermost();
  if (loops_.count < 2 || line.n * element_bytes_ >= far) return far;
  const Index lines = far / (line.n * element_bytes_);
  return lines * loops_[loops_.count - 2].from * element_bytes_;
}

/// The unit of iterations in which a loop may be cut: a block for the inner loops.
Index PermuteCopy::unit_of(int loop) const {
  return loop >= loops_.count - (loops_.transposes ? 2 : 1) ? block : 1;
}

/// The outermost loop that splits well among the parts, else the one that splits best.
int PermuteCopy::loop_to_cut(int parts) const {
  int best = 0;
  double best_balance = 0;
  for (int i = 0; i < loops_.count && best_balance < good_balance; ++i) {
    const double its = balance(loops_[i].n, unit_of(i), parts);
    if (its > best_balance) {
      best = i;
      best_balance = its;
    }
  }
  return best;
}

void PermuteCopy::run_part(const std::byte* from, std::byte* to, int part, int parts) const {
  if (loops_.empty) return;
  const int cut = loop_to_cut(parts);
  const CopyLoop& loop = loops_[cut];
  const Range range = split_units(loop.n, unit_of(cut), parts, part);
  if (range.lo == range.hi) return;
  PermuteCopy slice = *this;
  slice.loops_[cut].n = range.hi - range.lo;
  slice.run(from + range.lo * loop.from * element_bytes_, to + range.lo * loop.to * element_bytes_);
}

}  // namespace weft
