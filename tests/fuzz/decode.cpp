// Decodes bytes that nobody has encoded. Whatever they are, nothing outside of them is read and the outcome
// is good or damaged; if it is good, the numbers are those of every piece, and can be encoded again.
#include <algorithm>

#include "rows_check.hpp"

namespace {

using namespace weft;
using codec::block_reals;
using codec::Outcome;

/// The sum of the words of a payload of `n` numbers: those of four bytes of each number come first, then
/// those of two, then those of one.
std::uint32_t sum_of(const std::byte* payload, int n, int number_bytes) {
  std::uint32_t sum = 0;
  for (const int bytes : {4, 2, 1})
    for (int i = 0; (number_bytes & bytes) != 0 && i < n; ++i, payload += bytes)
      for (int b = 0; b < bytes; ++b) sum += static_cast<std::uint32_t>(payload[b]) << (8 * b);
  return sum;
}

/// Makes the checks right, so that what is behind them is reached.
void mend(const fuzz::Row& row, fuzz::Bytes& bytes) {
  for (Index block = 0; block < row.blocks(); ++block) {
    const Index begin = block * block_reals;
    codec::Head head{};
    std::memcpy(&head, bytes.data() + 4 * block, sizeof head);
    head = codec::head_of(
        head.shift,
        sum_of(bytes.data() + codec::heads_bytes(row.reals) + begin * row.number_bytes(),
               static_cast<int>(std::min<Index>(block_reals, row.reals - begin)), row.number_bytes()));
    std::memcpy(bytes.data() + 4 * block, &head, sizeof head);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input in(data, size);
  const fuzz::Row row = fuzz::Row::drawn(in);
  const bool mended = in.upto(3) != 0;
  const Index first = in.upto(static_cast<std::uint32_t>(row.reals - 1));
  const Index last = first + 1 + in.upto(static_cast<std::uint32_t>(row.reals - 1 - first));
  fuzz::Bytes bytes = in.bytes(row.size());
  if (mended) mend(row, bytes);

  fuzz::Bytes all, piece, again;
  const Outcome whole = row.decode(bytes, 0, row.reals, all), some = row.decode(bytes, first, last, piece);
  fuzz::require(whole != Outcome::overflow && some != Outcome::overflow, "a row is good or damaged");
  if (whole == Outcome::damaged) return 0;
  fuzz::require(some == Outcome::good, "a piece of a good row is good");
  fuzz::require(std::equal(piece.begin(), piece.end(), all.begin() + first * row.real_bytes),
                "a piece has the numbers of the whole");
  row.round_trip(all, again);
  return 0;
}
