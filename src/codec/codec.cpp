#include "codec/codec.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/arithmetic.hpp"
#include "base/nearest_name.hpp"
#include "codec/bf16.hpp"
#include "codec/fp16.hpp"
#include "codec/fp32.hpp"
#include "codec/zfp.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

constexpr const char* operation = "options: codec";

/// Of a format that is shorter than the numbers.
template <class Format>
CodecRow narrower(const char* name, const char* meaning) {
  return {name,
          meaning,
          nullptr,
          0,
          0,
          false,
          1,
          [](int, int real) {
            constexpr int bytes = sizeof(typename Format::Word);
            return bytes < real ? 8 * bytes : 0;
          },
          [](int) { return Format::error_exponent; }};
}

/// Sign and exponent take twelve bits of double precision and nine of single precision.
int trimmed_bits(int bits, int real) {
  const int bytes = divided_up((real == 8 ? 12 : 9) + bits, 8);
  return bytes > real ? 0 : 8 * std::max(bytes, 2);
}

/// With more bits the rounding of zfp's own arithmetic would no longer be small beside the bound.
int zfp_bits(int rate, int real) {
  return rate > 7 * real ? 0 : rate;
}
int zfp_accuracy_bits(int m, int real) {
  return zfp_bits(codec::zfp_accuracy_room_bits(m), real);
}

}  // namespace

std::span<const CodecRow> codec_table() {
  static const std::array table{
      narrower<codec::Fp32>("fp32", "single precision, of double precision"),
      narrower<codec::Fp16>("fp16", "half precision, with a power of two for every 64 numbers"),
      narrower<codec::Bf16>("bf16", "the upper half of single precision"),
      CodecRow{"trim", "so many bits of the mantissa, in whole bytes (trim:20)",
               "the bits of the mantissa that are kept", 0, 51, false, 1, trimmed_bits,
               [](int bits) { return -bits - 1; }},
      CodecRow{"zfp", "zfp with a fixed rate of so many bits for a number (zfp:16)",
               "the bits that a number takes", 8, 56, true, codec::zfp_group, zfp_bits,
               [](int rate) { return codec::zfp_error_exponent(rate); }},
      CodecRow{"zfp-accuracy",
               "zfp with as many bits as it takes to keep every number within 2^-m of the largest of its 64 "
               "(zfp-accuracy:20)",
               "the bits behind the first one of the largest of 64 numbers that all of them keep", 4, 45,
               true, codec::zfp_group, zfp_accuracy_bits,
               [](int m) { return codec::zfp_accuracy_error_exponent(m); }, true},
  };
  return table;
}

Codec find_codec(const std::string& name) {
  if (name == "none") return {};
  const std::size_t colon = name.find(':');
  std::vector<std::string> names{"none"};
  for (const CodecRow& row : codec_table()) {
    names.emplace_back(row.bits_meaning != nullptr ? std::string(row.name) + ":20" : row.name);
    if (name.substr(0, colon) != row.name) continue;
    if (row.bits_meaning == nullptr && colon == std::string::npos) return {&row, 0};
    if (row.bits_meaning == nullptr)
      throw Error(operation, "\"" + name + "\"", std::string(row.name) + " alone");
    int bits = -1;
    const char* const end = name.data() + name.size();
    const bool number = colon != std::string::npos &&
                        std::from_chars(name.data() + colon + 1, end, bits).ptr == end && bits >= 0;
    if (!number || bits < row.least_bits || bits > row.most_bits)
      throw Error(operation, "\"" + name + "\"",
                  std::string(row.name) + ":m with m from " + std::to_string(row.least_bits) + " to " +
                      std::to_string(row.most_bits) + ", " + row.bits_meaning);
    return {&row, bits};
  }
  throw Error(operation, "\"" + name + "\"", one_of(names, name));
}

void check_codec(const Codec& codec, int real_bytes) {
  if (!codec || codec.row->wire_bits(codec.bits, real_bytes) > 0) return;
  throw Error("plan: option codec",
              to_string(codec) + " for numbers of " + std::to_string(real_bytes) + " bytes",
              "a codec that makes them shorter, or none");
}

Index row_bytes(const Codec& codec, Index reals, int real_bytes) {
  if (!codec) return reals * real_bytes;
  const Index bits =
      rounded_up<Index>(reals, codec.row->group) * codec.row->wire_bits(codec.bits, real_bytes);
  return codec::heads_bytes(reals) + rounded_up<Index>(bits, 64) / 8;
}

double relative_error(const Codec& codec) {
  return codec ? std::ldexp(1.0, codec.row->error_exponent(codec.bits)) : 0;
}

std::string to_string(const Codec& codec) {
  if (!codec) return "none";
  return codec.row->name + (codec.row->bits_meaning != nullptr ? ":" + std::to_string(codec.bits) : "");
}

}  // namespace weft
