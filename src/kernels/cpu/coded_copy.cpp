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

CodedCopy::CodedCopy(const Request& r) : request_(r), coder_(row_coder(r.codec, r.real_bytes)) {
  for (int a = 0; a < r.extents.size(); ++a) {
    if (a == r.axis || r.extents[a] == 1) continue;
    loops_[static_cast<std::size_t>(count_++)] = {r.extents[a], r.box_strides[a] * r.element_bytes,
                                                  r.row_strides[a]};
    rows_ *= r.extents[a];
  }
  std::sort(loops_.begin(), loops_.begin() + count_,
            [](const Loop& a, const Loop& b) { return a.box > b.box; });
  if (r.extents[r.axis] == 0) rows_ = 0;
}

Outcome CodedCopy::run_part(const std::byte* from, std::byte* to, int part, int parts) const {
  const Range range = split_units(rows_, group, parts, part);
  const Request& r = request_;
  return some_rows(from, to, range,
                   {r.codec.bits, r.element_bytes / r.real_bytes, r.zfp ? &at(*r.zfp, part) : nullptr});
}

/// Rows are numbered with the last loop as the fastest one. Those of one turn of it go together.
Outcome CodedCopy::some_rows(const std::byte* from, std::byte* to, const Range& range,
                             const RowManner& manner) const {
  Outcome outcome = Outcome::good;
  const Index inner = count_ == 0 ? 1 : loops_[static_cast<std::size_t>(count_ - 1)].n;
  for (Index row = range.lo; row < range.hi;) {
    const Index count = std::min({range.hi - row, inner - row % inner, group});
    Index in_box = 0, in_rows = 0, rest = row;
    for (int i = count_ - 1; i >= 0; --i) {
      const Loop& loop = loops_[static_cast<std::size_t>(i)];
      in_box += rest % loop.n * loop.box;
      in_rows += rest % loop.n * loop.row;
      rest /= loop.n;
    }
    const auto rows = [&]<class Real, int Count>() {
      return request_.encodes ? encode_rows<Real, Count>(from + in_box, to + in_rows, count, manner)
                              : decode_rows<Real, Count>(from + in_rows, to + in_box, count, manner);
    };
    const bool complex = request_.element_bytes > request_.real_bytes;
    outcome = codec::worse(
        outcome,
        request_.real_bytes == 8
            ? (complex ? rows.template operator()<double, 2>() : rows.template operator()<double, 1>())
            : (complex ? rows.template operator()<float, 2>() : rows.template operator()<float, 1>()));
    row += count;
  }
  return outcome;
}

template <class Real, int Count>
Outcome CodedCopy::encode_rows(const std::byte* box, std::byte* rows, Index count,
                               const RowManner& manner) const {
  const Request& r = request_;
  const Index reals = r.points * Count, stride = r.box_strides[r.axis] * r.element_bytes;
  const Index points = r.extents[r.axis];
  const Loop last = count_ == 0 ? Loop{1, 0, 0} : loops_[static_cast<std::size_t>(count_ - 1)];
  Outcome outcome = Outcome::good;
  if ((stride == r.element_bytes || points == 1) && r.factor == 1) {
    for (Index i = 0; i < count; ++i)
      outcome =
          codec::worse(outcome, coder_.encode(box + i * last.box, r.first * Count, (r.first + points) * Count,
                                              reals, manner, rows + i * last.row));
    return outcome;
  }
  const auto factor = static_cast<Real>(r.factor);
  alignas(64) std::array<Real, group * block_reals> aside;
  const Index block = block_reals / Count;  // points of a block
  for (Index first = 0; first < points; first += block) {
    const Index n = std::min(block, points - first);
    for (Index p = 0; p < n; ++p)
      for (Index i = 0; i < count; ++i) {
        Real* const to = aside.data() + i * block_reals + p * Count;
        std::memcpy(to, box + (first + p) * stride + i * last.box, Count * sizeof(Real));
        for (int k = 0; k < Count; ++k) to[k] *= factor;
      }
    for (Index i = 0; i < count; ++i)
      outcome = codec::worse(
          outcome, coder_.encode(reinterpret_cast<const std::byte*>(aside.data() + i * block_reals),
                                 (r.first + first) * Count, (r.first + first + n) * Count, reals, manner,
                                 rows + i * last.row));
  }
  return outcome;
}

template <class Real, int Count>
Outcome CodedCopy::decode_rows(const std::byte* rows, std::byte* box, Index count,
                               const RowManner& manner) const {
  const Request& r = request_;
  const Index reals = r.points * Count, stride = r.box_strides[r.axis] * r.element_bytes;
  const Index points = r.extents[r.axis];
  const Loop last = count_ == 0 ? Loop{1, 0, 0} : loops_[static_cast<std::size_t>(count_ - 1)];
  Outcome outcome = Outcome::good;
  if (stride == r.element_bytes || points == 1) {
    for (Index i = 0; i < count; ++i)
      outcome = codec::worse(outcome, coder_.decode(rows + i * last.row, reals, r.first * Count,
                                                    (r.first + points) * Count, manner, box + i * last.box));
    return outcome;
  }
  alignas(64) std::array<Real, group * block_reals> aside;
  const Index block = block_reals / Count;
  for (Index first = 0; first < points;) {
    const Index n = std::min(block - (r.first + first) % block, points - first);
    for (Index i = 0; i < count; ++i)
      outcome =
          codec::worse(outcome, coder_.decode(rows + i * last.row, reals, (r.first + first) * Count,
                                              (r.first + first + n) * Count, manner,
                                              reinterpret_cast<std::byte*>(aside.data() + i * block_reals)));
    for (Index p = 0; p < n; ++p)
      for (Index i = 0; i < count; ++i)
        std::memcpy(box + (first + p) * stride + i * last.box, aside.data() + i * block_reals + p * Count,
                    Count * sizeof(Real));
    first += n;
  }
  return outcome;
}

}  // namespace weft
