// Encodes any bits as numbers and decodes them again: bounds and special numbers are kept, rows may be
// encoded block by block, and a byte that changes on the way is noticed.
#include <algorithm>
#include <utility>

#include "rows_check.hpp"

namespace {

using namespace weft;
using codec::Ieee;
using codec::Outcome;

/// Moves the numbers near to each other, so that blocks hold more than their largest number: the exponents of
/// bits that are drawn at random are far apart.
template <class Real>
void gather(fuzz::Bytes& numbers, std::uint32_t exponent, std::uint32_t width) {
  using I = Ieee<Real>;
  for (std::size_t i = 0; i < numbers.size(); i += sizeof(Real)) {
    typename I::Bits bits = 0;
    std::memcpy(&bits, numbers.data() + i, sizeof bits);
    const auto drawn = (bits & I::infinity) >> I::mantissa;
    const auto near = (exponent + drawn % width) % (I::exponents + 1);
    bits = (bits & ~I::infinity) | (static_cast<typename I::Bits>(near) << I::mantissa);
    std::memcpy(numbers.data() + i, &bits, sizeof bits);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input in(data, size);
  const fuzz::Row row = fuzz::Row::drawn(in);
  const std::uint32_t width = in.upto(100), exponent = in.upto(2047);
  const Index cut = codec::block_reals * in.upto(static_cast<std::uint32_t>(row.blocks()));
  const Index changed = in.upto(static_cast<std::uint32_t>(row.size() - 1));
  const auto change = static_cast<std::byte>(1 + in.upto(254));
  fuzz::Bytes numbers = in.bytes(row.reals * row.real_bytes);
  if (width > 0) (row.real_bytes == 8 ? gather<double> : gather<float>)(numbers, exponent, width);

  fuzz::Bytes bytes;
  row.round_trip(numbers, bytes);

  fuzz::Bytes in_parts(bytes.size(), std::byte{0xA5});
  const RowCoder coder = row_coder(row.codec, row.real_bytes);
  for (const auto& [from, to] : {std::pair<Index, Index>{0, std::min(cut, row.reals)}, {cut, row.reals}})
    if (from < to)
      coder.encode(numbers.data() + from * row.real_bytes, from, to, row.reals, {.bits = row.codec.bits},
                   in_parts.data());
  fuzz::require(in_parts == bytes, "parts of a row are encoded as the whole is");

  fuzz::Bytes before, after;
  row.decode(bytes, 0, row.reals, before);
  bytes[static_cast<std::size_t>(changed)] ^= change;
  const Outcome outcome = row.decode(bytes, 0, row.reals, after);
  fuzz::require(outcome == (row.uses(changed) ? Outcome::damaged : Outcome::good),
                "a changed byte is noticed");
  fuzz::require(row.uses(changed) || after == before, "a byte that says nothing changes nothing");
  return 0;
}
