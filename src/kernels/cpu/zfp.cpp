#include "kernels/cpu/zfp.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "base/arithmetic.hpp"
#include "base/shared_library.hpp"
#include "codec/varying.hpp"
#include "codec/zfp.hpp"

namespace weft {

namespace {

using codec::block_reals;
using codec::Head;
using codec::Ieee;
using codec::Outcome;
using codec::power_of_two;
using codec::zfp_four;

/// libzfp's functions, of which sizes in bytes and in bits have 64 bits and `zfp_bool` is an int. These have
/// been the same since version 0.5.5, and so have the streams.
template <class Real>
struct Fours {
  std::size_t (*encode)(zfp::Stream*, const Real* four);
  std::size_t (*decode)(zfp::Stream*, Real* four);
};
struct Functions {
  zfp::BitStream* (*open_bits)(void* buffer, std::size_t bytes);
  void (*close_bits)(zfp::BitStream*);
  void (*rewind)(zfp::BitStream*);
  void (*seek)(zfp::BitStream*, std::uint64_t bit);  ///< to read
  std::size_t (*flush)(zfp::BitStream*);
  zfp::Stream* (*open)(zfp::BitStream*);
  void (*close)(zfp::Stream*);
  double (*set_rate)(zfp::Stream*, double rate, int type, unsigned axes, int align);
  int (*set)(zfp::Stream*, unsigned least_bits, unsigned most_bits, unsigned most_planes, int least_exponent);
  Fours<double> doubles;
  Fours<float> floats;
};
constexpr int float_type = 3, double_type = 4;

std::string find_functions(Functions& f) {
  return open_for_good("WEFT_ZFP_LIBRARY", {"libzfp.so.1", "libzfp.so.0", "libzfp.so"},
                       "install libzfp (Debian: apt-get install libzfp1, or libzfp-dev), or name its file",
                       [&f](SharedLibrary::Binder& bind) {
                         bind(f.open_bits, "stream_open");
                         bind(f.close_bits, "stream_close");
                         bind(f.rewind, "stream_rewind");
                         bind(f.seek, "stream_rseek");
                         bind(f.flush, "stream_flush");
                         bind(f.open, "zfp_stream_open");
                         bind(f.close, "zfp_stream_close");
                         bind(f.set_rate, "zfp_stream_set_rate");
                         bind(f.set, "zfp_stream_set_params");
                         bind(f.doubles.encode, "zfp_encode_block_double_1");
                         bind(f.doubles.decode, "zfp_decode_block_double_1");
                         bind(f.floats.encode, "zfp_encode_block_float_1");
                         bind(f.floats.decode, "zfp_decode_block_float_1");
                       });
}

using Library = OptionalLibrary<Functions, find_functions>;

const Functions& functions() {
  return Library::functions("plan: codec zfp", "libzfp on every rank");
}

template <class Real>
const Fours<Real>& fours() {
  const Functions& f = Library::functions();
  if constexpr (sizeof(Real) == 8) {
    return f.doubles;
  } else {
    return f.floats;
  }
}

/// Numbers below this become zeros beside one of at least 1: libzfp cannot scale those near the end of the
/// range.
template <class Real>
constexpr int least_exponent = sizeof(Real) == 8 ? -900 : -90;

/// Multiplies by 2^exponent in two steps, each of which is by a normal number.
template <class Real>
struct Scaling {
  Real first, second;
  explicit Scaling(int exponent)
      : first(power_of_two<Real>(exponent / 2)), second(power_of_two<Real>(exponent - exponent / 2)) {}
  Real operator()(Real x) const { return x * first * second; }
};

/// Makes zeros of a four whose numbers are all below half of what the accuracy 2^-m allows. Of such a four
/// libzfp codes at most three planes, from which its inverse transform overflows (ADR 0028).
template <class Real>
void drop_if_small(Real* four, int m) {
  const Real half = power_of_two<Real>(-m - 1);
  if (std::all_of(four, four + zfp_four, [half](Real x) { return std::fabs(x) < half; }))
    std::fill_n(four, zfp_four, Real(0));
}

/// The numbers of a block as they are coded: *lanes* of the real and of the imaginary parts, in whole fours.
struct Lanes {
  int count, length;
  Lanes(int n, int point_reals) : count(point_reals), length(rounded_up(n, codec::zfp_group) / point_reals) {}
};

/// Of a payload of so many bytes; the last word may not be whole.
std::uint32_t sum_of(const std::uint64_t* words, int bytes) {
  std::uint32_t sum = 0;
  for (int i = 0; i < divided_up(bytes, 8); ++i)
    sum += static_cast<std::uint32_t>(words[i]) + static_cast<std::uint32_t>(words[i] >> 32);
  return sum;
}

int bytes_at_rate(int n, int rate) {
  return rounded_up(rounded_up(n, codec::zfp_group) * rate, 64) / 8;
}

constexpr int bits_of_unit = 8 * codec::length_unit;
constexpr int bytes_of_length = 1;

}  // namespace

const std::string& zfp::missing() {
  return Library::missing();
}

ZfpStream::ZfpStream()
    : words_(std::make_unique<std::array<std::uint64_t, block_reals>>()),
      bits_(functions().open_bits(words_->data(), sizeof *words_), functions().close_bits),
      stream_(functions().open(bits_.get()), functions().close) {
  if (!bits_ || !stream_) throw std::bad_alloc();
}

/// With a fixed accuracy a four that has been damaged takes no more bits than any that has been encoded.
template <class Real>
void ZfpStream::use(ZfpMode mode, int bits) {
  if (mode == mode_ && bits == bits_of_mode_ && real_bytes_ == static_cast<int>(sizeof(Real))) return;
  const Functions& f = Library::functions();
  if (mode == ZfpMode::rate) {
    f.set_rate(stream_.get(), bits, sizeof(Real) == 8 ? double_type : float_type, 1, 0);
  } else {
    constexpr unsigned all_planes = 64;
    f.set(stream_.get(), 1, static_cast<unsigned>(codec::zfp_accuracy_four_bits(bits)), all_planes, -bits);
  }
  mode_ = mode;
  bits_of_mode_ = bits;
  real_bytes_ = sizeof(Real);
}

template <class Real>
Outcome ZfpStream::encode(ZfpMode mode, const Real* reals, int n, const RowManner& manner, Head* head,
                          std::byte* payload) {
  using I = Ieee<Real>;
  Real largest = 0;
  bool finite = true;
  for (int i = 0; i < n; ++i) {
    const Real size = std::fabs(reals[i]);
    finite = finite && size < std::numeric_limits<Real>::infinity();
    largest = std::max(largest, size);
  }
  if (!finite) return Outcome::not_finite;

  const int shift = largest > 0 ? std::ilogb(largest) : 0;
  const Scaling<Real> scaled(-shift);
  const Lanes lanes(n, manner.point_reals);
  Real coded[block_reals] = {};
  for (int k = 0; k < lanes.count; ++k)
    for (int i = 0; i < lanes.length; ++i) {
      // What fills the last four is a number of it, so that it costs the others nothing.
      const Real x = scaled(reals[std::min(i * lanes.count, n - lanes.count) + k]);
      coded[k * lanes.length + i] = std::fabs(x) < power_of_two<Real>(least_exponent<Real>) ? Real(0) : x;
    }

  use<Real>(mode, manner.bits);
  const Functions& f = Library::functions();
  words_->fill(0);  // of the last word the library writes a part
  f.rewind(bits_.get());
  std::size_t written = 0;
  for (int i = 0; i < lanes.count * lanes.length; i += zfp_four) {
    if (mode == ZfpMode::accuracy) drop_if_small(coded + i, manner.bits);
    written += fours<Real>().encode(stream_.get(), coded + i);
  }
  f.flush(bits_.get());
  const auto length = static_cast<int>(divided_up<std::size_t>(written, bits_of_unit));
  const int bytes = mode == ZfpMode::rate ? bytes_at_rate(n, manner.bits) : codec::length_unit * length;
  std::uint32_t sum = sum_of(words_->data(), bytes);
  std::byte* to = payload;
  if (mode == ZfpMode::accuracy) {
    *to++ = static_cast<std::byte>(length);
    sum += static_cast<std::uint32_t>(length);
  }
  std::memcpy(to, words_->data(), static_cast<std::size_t>(bytes));
  *head = codec::head_of(shift, sum);

  if (shift < I::bias - 2) return Outcome::good;
  Real back[block_reals] = {};
  decode(mode, *head, payload, n, 0, n, manner, back);
  return std::all_of(back, back + n, [](Real x) { return std::isfinite(x); }) ? Outcome::good
                                                                              : Outcome::overflow;
}

template <class Real>
Outcome ZfpStream::decode(ZfpMode mode, const Head& head, const std::byte* payload, int n, int first,
                          int last, const RowManner& manner, Real* reals) {
  using I = Ieee<Real>;
  if (head.shift < -I::bias - I::mantissa || head.shift > I::bias) return Outcome::damaged;
  return mode == ZfpMode::rate ? decode_at_rate(head, payload, n, first, last, manner, reals)
                               : decode_varying(head, payload, n, first, last, manner, reals);
}

template <class Real>
Outcome ZfpStream::decode_at_rate(const Head& head, const std::byte* payload, int n, int first, int last,
                                  const RowManner& manner, Real* reals) {
  const int bytes = bytes_at_rate(n, manner.bits);
  std::memcpy(words_->data(), payload, static_cast<std::size_t>(bytes));
  if (first == 0 && !codec::fits(head, sum_of(words_->data(), bytes))) return Outcome::damaged;

  const Scaling<Real> scaled(head.shift);
  const Lanes lanes(n, manner.point_reals);
  use<Real>(ZfpMode::rate, manner.bits);
  const int begin = first / lanes.count, end = last / lanes.count;
  for (int k = 0; k < lanes.count; ++k) {
    const int at = begin / zfp_four * zfp_four;
    const int bit = (k * lanes.length + at) * manner.bits;
    Library::functions().seek(bits_.get(), static_cast<std::uint64_t>(bit));
    for (int i = at; i < end; i += zfp_four) {
      Real four[zfp_four];
      fours<Real>().decode(stream_.get(), four);
      for (int p = std::max(begin, i); p < std::min(end, i + zfp_four); ++p)
        reals[(p - begin) * lanes.count + k] = scaled(four[p - i]);
    }
  }
  return Outcome::good;
}

template <class Real>
Outcome ZfpStream::decode_varying(const Head& head, const std::byte* payload, int n, int first, int last,
                                  const RowManner& manner, Real* reals) {
  const auto length = std::to_integer<int>(*payload);
  const int bytes = codec::length_unit * length;
  const int room = rounded_up(n, codec::zfp_group) * codec::zfp_accuracy_room_bits(manner.bits) / 8;
  if (bytes_of_length + bytes > room) return Outcome::damaged;
  words_->fill(0);
  std::memcpy(words_->data(), payload + bytes_of_length, static_cast<std::size_t>(bytes));
  if (!codec::fits(head, sum_of(words_->data(), bytes) + static_cast<std::uint32_t>(length)))
    return Outcome::damaged;

  const Scaling<Real> scaled(head.shift);
  const Lanes lanes(n, manner.point_reals);
  use<Real>(ZfpMode::accuracy, manner.bits);
  Library::functions().seek(bits_.get(), 0);
  Real coded[block_reals];
  std::size_t read = 0;
  for (int i = 0; i < lanes.count * lanes.length; i += zfp_four)
    read += fours<Real>().decode(stream_.get(), coded + i);
  if (divided_up<std::size_t>(read, bits_of_unit) != static_cast<std::size_t>(length))
    return Outcome::damaged;
  for (int i = first; i < last; ++i)
    reals[i - first] = scaled(coded[i % lanes.count * lanes.length + i / lanes.count]);
  return Outcome::good;
}

template Outcome ZfpStream::encode(ZfpMode, const double*, int, const RowManner&, Head*, std::byte*);
template Outcome ZfpStream::encode(ZfpMode, const float*, int, const RowManner&, Head*, std::byte*);
template Outcome ZfpStream::decode(ZfpMode, const Head&, const std::byte*, int, int, int, const RowManner&,
                                   double*);
template Outcome ZfpStream::decode(ZfpMode, const Head&, const std::byte*, int, int, int, const RowManner&,
                                   float*);

}  // namespace weft
