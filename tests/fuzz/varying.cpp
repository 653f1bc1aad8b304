// Parts whose length varies (codec/varying.hpp), by codec zfp-accuracy: of bytes that nobody has encoded
// nothing outside of them is read, and the outcome is good or damaged; what has been encoded comes back
// within its bound, and a byte that changes or is missing on the way is noticed. Without libzfp there is
// nothing to do.
#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/cpu/varying_rows.hpp"
#include "kernels/cpu/zfp.hpp"
#include "rows_check.hpp"

namespace {

using namespace weft;
using codec::block_reals;
using codec::Outcome;

struct Part {
  Codec codec;
  int real_bytes;
  codec::VaryingRows rows;
  RowManner manner;

  explicit Part(fuzz::Input& in, ZfpStream& zfp) : real_bytes(in.upto(1) == 0 ? 8 : 4) {
    const std::uint32_t most = real_bytes == 8 ? 45 : 17;
    codec = find_codec("zfp-accuracy:" + std::to_string(4 + in.upto(most - 4)));
    rows.rows = 1 + in.upto(3);
    rows.reals = 1 + in.upto(2 * block_reals);
    rows.bytes = row_bytes(codec, rows.reals, real_bytes);
    rows.room_bits = codec.row->wire_bits(codec.bits, real_bytes);
    manner = {codec.bits, rows.reals % 2 == 0 ? 1 + static_cast<int>(in.upto(1)) : 1, &zfp};
  }
  Index room() const { return rows.rows * rows.bytes; }
  Index row_memory() const { return rows.reals * real_bytes; }

  Outcome encode(const fuzz::Bytes& numbers, fuzz::Bytes& part) const {
    const RowCoder coder = row_coder(codec, real_bytes);
    part.assign(static_cast<std::size_t>(room()), std::byte{0xA5});
    Outcome outcome = Outcome::good;
    for (Index r = 0; r < rows.rows; ++r)
      outcome = codec::worse(outcome, coder.encode(numbers.data() + r * row_memory(), 0, rows.reals,
                                                   rows.reals, manner, part.data() + r * rows.bytes));
    return outcome;
  }
  Outcome decode(const fuzz::Bytes& part, Index first, Index last, fuzz::Bytes& numbers) const {
    const RowCoder coder = row_coder(codec, real_bytes);
    const Index each = (last - first) * real_bytes;
    numbers.assign(static_cast<std::size_t>(rows.rows * each), std::byte{0x5A});
    Outcome outcome = Outcome::good;
    for (Index r = 0; r < rows.rows; ++r)
      outcome = codec::worse(outcome, coder.decode(part.data() + r * rows.bytes, rows.reals, first, last,
                                                   manner, numbers.data() + r * each));
    return outcome;
  }
  /// What arrives in the memory of the part.
  fuzz::Bytes spread_out(const fuzz::Bytes& arrived) const {
    fuzz::Bytes part(static_cast<std::size_t>(room()), std::byte{0x3C});
    std::copy(arrived.begin(), arrived.end(), part.begin());
    spread(rows, part.data(), static_cast<Index>(arrived.size()));
    return part;
  }

  /// Makes the checks right, so that what is behind them is reached.
  void mend(fuzz::Bytes& part) const {
    for (Index r = 0; r < rows.rows; ++r)
      for (Index begin = 0; begin < rows.reals; begin += block_reals) {
        std::byte* const row = part.data() + r * rows.bytes;
        const Index at = codec::heads_bytes(rows.reals) + begin * rows.room_bits / 8;
        const auto length = std::to_integer<Index>(row[at]);
        std::uint32_t sum = static_cast<std::uint32_t>(length);
        for (Index i = 0; i < std::min(codec::length_unit * length, rows.bytes - at - 1); ++i)
          sum += std::to_integer<std::uint32_t>(row[at + 1 + i]) << (8 * (i % 4));
        codec::Head head{};
        std::memcpy(&head, row + begin / block_reals * 4, sizeof head);
        head = codec::head_of(head.shift, sum);
        std::memcpy(row + begin / block_reals * 4, &head, sizeof head);
      }
  }
};

void decode_anything(fuzz::Input& in, const Part& part) {
  const bool mended = in.upto(3) != 0;
  const Index first = in.upto(static_cast<std::uint32_t>(part.rows.reals - 1));
  const Index last = first + 1 + in.upto(static_cast<std::uint32_t>(part.rows.reals - 1 - first));
  const Index arrived = in.upto(static_cast<std::uint32_t>(part.room()));
  fuzz::Bytes room = part.spread_out(in.bytes(arrived)), all, piece;
  if (mended) part.mend(room);
  const Outcome whole = part.decode(room, 0, part.rows.reals, all),
                some = part.decode(room, first, last, piece);
  fuzz::require(whole == Outcome::good || whole == Outcome::damaged, "a part is good or damaged");
  if (whole == Outcome::damaged) return;
  fuzz::require(some == Outcome::good, "a piece of a good part is good");
  const Index each = (last - first) * part.real_bytes;
  for (Index r = 0; r < part.rows.rows; ++r)
    fuzz::require(std::equal(piece.begin() + r * each, piece.begin() + (r + 1) * each,
                             all.begin() + r * part.row_memory() + first * part.real_bytes),
                  "a piece has the numbers of the whole");
}

template <class Real>
void check_bound(const Part& part, const fuzz::Bytes& given, const fuzz::Bytes& returned) {
  const auto real = [](const fuzz::Bytes& bytes, Index i) {
    Real x = 0;
    std::memcpy(&x, bytes.data() + i * static_cast<Index>(sizeof x), sizeof x);
    return static_cast<long double>(x);
  };
  for (Index r = 0; r < part.rows.rows; ++r)
    for (Index begin = 0; begin < part.rows.reals; begin += block_reals) {
      const Index from = r * part.rows.reals + begin;
      const Index to = from + std::min<Index>(block_reals, part.rows.reals - begin);
      long double largest = 0;
      for (Index i = from; i < to; ++i) largest = std::max(largest, std::fabs(real(given, i)));
      const long double most =
          std::ldexp(largest, -part.codec.bits) + std::numeric_limits<Real>::denorm_min() / 2.0L;
      for (Index i = from; i < to; ++i)
        fuzz::require(std::fabs(real(given, i) - real(returned, i)) <= most, "the codec's bound");
    }
}

/// Gives numbers exponents that are near to each other, or those of infinities.
template <class Real>
void gather(fuzz::Bytes& numbers, std::uint32_t exponent, std::uint32_t width) {
  using I = codec::Ieee<Real>;
  for (std::size_t i = 0; i < numbers.size(); i += sizeof(Real)) {
    typename I::Bits bits = 0;
    std::memcpy(&bits, numbers.data() + i, sizeof bits);
    const auto near = (exponent + ((bits & I::infinity) >> I::mantissa) % width) % (I::exponents + 1);
    bits = (bits & ~I::infinity) | (static_cast<typename I::Bits>(near) << I::mantissa);
    std::memcpy(numbers.data() + i, &bits, sizeof bits);
  }
}

void send_anything(fuzz::Input& in, const Part& part) {
  const std::uint32_t exponent = in.upto(2047), width = 1 + in.upto(60);
  const std::uint32_t at = in.upto(65535), change = 1 + in.upto(254);
  fuzz::Bytes numbers = in.bytes(part.rows.rows * part.row_memory()), room, back;
  (part.real_bytes == 8 ? gather<double> : gather<float>)(numbers, exponent, width);
  const Outcome written = part.encode(numbers, room);
  fuzz::require(written != Outcome::damaged, "encoding damages nothing");
  if (written != Outcome::good) return;
  fuzz::Bytes sent = room;
  sent.resize(static_cast<std::size_t>(compact(part.rows, sent.data())));
  fuzz::require(part.decode(part.spread_out(sent), 0, part.rows.reals, back) == Outcome::good,
                "what was sent can be decoded");
  (part.real_bytes == 8 ? check_bound<double> : check_bound<float>)(part, numbers, back);

  fuzz::Bytes changed = sent;
  changed[at % sent.size()] ^= static_cast<std::byte>(change);
  fuzz::require(part.decode(part.spread_out(changed), 0, part.rows.reals, back) == Outcome::damaged,
                "a changed byte is noticed");
  sent.resize(at % sent.size());
  fuzz::require(part.decode(part.spread_out(sent), 0, part.rows.reals, back) == Outcome::damaged,
                "a message that ends early is noticed");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!zfp::missing().empty()) return 0;
  static auto* const zfp = new ZfpStream;
  fuzz::Input in(data, size);
  const bool decodes = in.upto(1) == 0;
  const Part part(in, *zfp);
  decodes ? decode_anything(in, part) : send_anything(in, part);
  return 0;
}
