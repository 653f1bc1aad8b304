#include "kernels/cpu/coded_copy.hpp"

#include <algorithm>
#include <cstring>

#include "base/arithmetic.hpp"

namespace weft {

namespace {

using codec::block_reals;
using codec::Outcome;

/// Rows that are transposed together: neighbours in the box share cache lines.
constexpr Index group = 8;

}  // namespace

CodedCopy::CodedCopy(const CodedRequest& r, std::shared_ptr<ZfpStreams> zfp)
    : loops_(r),
      encodes_(r.encodes),
      real_bytes_(r.real_bytes),
      coder_(row_coder(r.codec, r.real_bytes)),
      zfp_(std::move(zfp)) {}

Outcome CodedCopy::run_part(const std::byte* from, std::byte* to, int part, int parts) const {
  return some_rows(from, to, split_units(loops_.rows, group, parts, part),
                   {loops_.bits, loops_.point_reals, zfp_ ? &at(*zfp_, part) : nullptr});
}

/// Rows of one turn of the first loop go together.
Outcome CodedCopy::some_rows(const std::byte* from, std::byte* to, const Range& range,
                             const RowManner& manner) const {
  Outcome outcome = Outcome::good;
  const Index inner = loops_.loops[0].n;
  for (Index row = range.lo; row < range.hi;) {
    const Index count = std::min({range.hi - row, inner - row % inner, group});
    Index in_box = 0, in_rows = 0;
    loops_.locate(row, in_box, in_rows);
    const auto rows = [&]<class Real, int Count>() {
      return encodes_ ? encode_rows<Real, Count>(from + in_box, to + in_rows, count, manner)
                      : decode_rows<Real, Count>(from + in_rows, to + in_box, count, manner);
    };
    const bool complex = loops_.point_reals == 2;
    outcome = codec::worse(
        outcome,
        real_bytes_ == 8
            ? (complex ? rows.template operator()<double, 2>() : rows.template operator()<double, 1>())
            : (complex ? rows.template operator()<float, 2>() : rows.template operator()<float, 1>()));
    row += count;
  }
  return outcome;
}

/// Whether the numbers of a row follow each other in the box, too.
template <class Real, int Count>
bool CodedCopy::lies_in_rows() const {
  return loops_.stride == Count * static_cast<Index>(sizeof(Real)) || loops_.last - loops_.first == Count;
}

template <class Real, int Count>
Outcome CodedCopy::encode_rows(const std::byte* box, std::byte* rows, Index count,
                               const RowManner& manner) const {
  const CodedLoops& c = loops_;
  const CodedLoops::Loop& next = c.loops[0];
  Outcome outcome = Outcome::good;
  const auto encode = [&](const std::byte* from, Index first, Index last, Index row) {
    outcome = codec::worse(outcome, coder_.encode(from, first, last, c.reals, manner, rows + row * next.row));
  };
  if (lies_in_rows<Real, Count>() && c.factor == 1) {
    for (Index i = 0; i < count; ++i) encode(box + i * next.box, c.first, c.last, i);
    return outcome;
  }
  const auto factor = static_cast<Real>(c.factor);
  alignas(64) std::array<Real, group * block_reals> aside;
  for (Index first = c.first; first < c.last; first += block_reals) {
    const Index n = std::min<Index>(block_reals, c.last - first);
    const std::byte* const from = box + (first - c.first) / Count * c.stride;
    for (Index p = 0; p < n / Count; ++p)
      for (Index i = 0; i < count; ++i) {
        Real* const to = aside.data() + i * block_reals + p * Count;
        std::memcpy(to, from + p * c.stride + i * next.box, Count * sizeof(Real));
        for (int k = 0; k < Count; ++k) to[k] *= factor;
      }
    for (Index i = 0; i < count; ++i)
      encode(reinterpret_cast<const std::byte*>(aside.data() + i * block_reals), first, first + n, i);
  }
  return outcome;
}

template <class Real, int Count>
Outcome CodedCopy::decode_rows(const std::byte* rows, std::byte* box, Index count,
                               const RowManner& manner) const {
  const CodedLoops& c = loops_;
  const CodedLoops::Loop& next = c.loops[0];
  Outcome outcome = Outcome::good;
  const auto decode = [&](Index row, Index first, Index last, std::byte* to) {
    outcome = codec::worse(outcome, coder_.decode(rows + row * next.row, c.reals, first, last, manner, to));
  };
  if (lies_in_rows<Real, Count>()) {
    for (Index i = 0; i < count; ++i) decode(i, c.first, c.last, box + i * next.box);
    return outcome;
  }
  alignas(64) std::array<Real, group * block_reals> aside;
  for (Index first = c.first; first < c.last;) {
    const Index n = std::min(block_reals - first % block_reals, c.last - first);
    for (Index i = 0; i < count; ++i)
      decode(i, first, first + n, reinterpret_cast<std::byte*>(aside.data() + i * block_reals));
    std::byte* const to = box + (first - c.first) / Count * c.stride;
    for (Index p = 0; p < n / Count; ++p)
      for (Index i = 0; i < count; ++i)
        std::memcpy(to + p * c.stride + i * next.box, aside.data() + i * block_reals + p * Count,
                    Count * sizeof(Real));
    first += n;
  }
  return outcome;
}

}  // namespace weft
