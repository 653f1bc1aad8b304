#include "rows_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace weft::fuzz {

namespace {

using codec::block_reals;
using codec::Outcome;

std::vector<RowCoder> coders(const Codec& codec, int real_bytes) {
  std::vector<RowCoder> all;
  for (const RowKernel& kernel : row_kernels())
    if (kernel.runs_here()) all.push_back(kernel.coder(codec, real_bytes));
  return all;
}

template <class Real>
std::vector<Real> reals_of(const Bytes& bytes) {
  std::vector<Real> reals(bytes.size() / sizeof(Real));
  std::memcpy(reals.data(), bytes.data(), bytes.size());
  return reals;
}

/// docs/adr/0026-codecs.md: of a number the error is relative to it, but for those so small that the format
/// holds fewer bits of them; what is decoded may have to be denormal. Differences of neighbours are exact
/// here.
template <class Real>
void check_numbers(const Bytes& given, const Bytes& returned, double bound, bool refused) {
  using Limits = std::numeric_limits<Real>;
  const std::vector<Real> x = reals_of<Real>(given), y = reals_of<Real>(returned);
  bool too_large = false;
  for (std::size_t block = 0; block < x.size(); block += block_reals) {
    const std::size_t end = std::min<std::size_t>(block + block_reals, x.size());
    long double largest = 0;
    for (std::size_t i = block; i < end; ++i)
      if (std::isfinite(x[i])) largest = std::max<long double>(largest, std::fabs(x[i]));
    for (std::size_t i = block; i < end; ++i) {
      if (std::isnan(x[i])) {
        require(std::isnan(y[i]), "NaN stays NaN");
        continue;
      }
      require(std::signbit(x[i]) == std::signbit(y[i]), "a number keeps its sign");
      const long double size = std::fabs(x[i]);
      const bool near_the_end = size * (1 + static_cast<long double>(bound)) > Limits::max();
      too_large = too_large || (std::isfinite(x[i]) && near_the_end);
      if (!std::isfinite(x[i]) || (refused && near_the_end && std::isinf(y[i]))) {
        require(std::isinf(y[i]), "infinity stays infinity");
        continue;
      }
      require(x[i] != 0 || y[i] == 0, "zero stays zero");
      require(std::isfinite(y[i]), "a finite number stays finite");
      const long double error = std::fabs(static_cast<long double>(y[i]) - static_cast<long double>(x[i]));
      const long double most = bound * (size + 0x1p-24L * largest) + Limits::denorm_min() / 2.0L;
      if (error > most)
        std::fprintf(stderr, "%a became %a, the largest of its block is %La\n", static_cast<double>(x[i]),
                     static_cast<double>(y[i]), largest);
      require(error <= most, "the codec's bound");
    }
  }
  require(!refused || too_large, "only what would become infinite is refused");
}

}  // namespace

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

std::uint8_t Input::byte() {
  if (left_ == 0) return 0;
  --left_;
  return *at_++;
}

std::uint32_t Input::upto(std::uint32_t most) {
  const std::uint32_t low = byte();
  return (most < 256 ? low : low + 256U * byte()) % (most + 1);
}

Bytes Input::bytes(Index count) {
  Bytes all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; left_ > 0 && i < all.size(); ++i) all[i] = static_cast<std::byte>(at_[i % left_]);
  return all;
}

Row Row::drawn(Input& in) {
  Row row{};
  row.real_bytes = in.upto(1) == 0 ? 8 : 4;
  std::vector<Codec> all;
  for (const CodecRow& r : codec_table())
    for (int bits = r.least_bits; bits <= r.most_bits && !r.by_library; ++bits) {
      const int on_wire = r.wire_bits(bits, row.real_bytes);
      if (on_wire > 0 && on_wire < 8 * row.real_bytes) all.push_back({&r, bits});
    }
  row.codec = all[in.upto(static_cast<std::uint32_t>(all.size() - 1))];
  row.reals = 1 + in.upto(3 * block_reals);
  return row;
}

bool Row::uses(Index byte) const {
  const Index payload = byte - codec::heads_bytes(reals);
  return byte < 4 * blocks() || (payload >= 0 && payload < reals * number_bytes());
}

Outcome Row::encode(const Bytes& numbers, Bytes& row) const {
  const Bytes before = row;
  Outcome first{};
  bool any = false;
  for (const RowCoder& coder : coders(codec, real_bytes)) {
    Bytes bytes = before;
    const Outcome outcome = coder.encode(numbers.data(), 0, reals, reals, {.bits = codec.bits}, bytes.data());
    require(!any || (outcome == first && bytes == row), "all kernels write the same");
    any = true;
    first = outcome;
    row = std::move(bytes);
  }
  return first;
}

Outcome Row::decode(const Bytes& row, Index begin, Index end, Bytes& numbers) const {
  Outcome first{};
  bool any = false;
  for (const RowCoder& coder : coders(codec, real_bytes)) {
    Bytes bytes(static_cast<std::size_t>((end - begin) * real_bytes), std::byte{0x5A});
    const Outcome outcome = coder.decode(row.data(), reals, begin, end, {.bits = codec.bits}, bytes.data());
    require(!any || (outcome == first && bytes == numbers), "all kernels read the same");
    any = true;
    first = outcome;
    numbers = std::move(bytes);
  }
  return first;
}

void Row::round_trip(const Bytes& numbers, Bytes& row) const {
  row.assign(static_cast<std::size_t>(size()), std::byte{0xA5});
  const Outcome outcome = encode(numbers, row);
  require(outcome != Outcome::damaged, "encoding damages nothing");
  Bytes back;
  require(decode(row, 0, reals, back) == Outcome::good, "what was encoded can be decoded");
  const auto check = real_bytes == 8 ? check_numbers<double> : check_numbers<float>;
  check(numbers, back, relative_error(codec), outcome == Outcome::overflow);
}

}  // namespace weft::fuzz
