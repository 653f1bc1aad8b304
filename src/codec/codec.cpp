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
#include "weft/error.hpp"

namespace weft {

namespace {

constexpr const char* operation = "options: codec";

/// Of a format that is shorter than the numbers.
template <class Format>
CodecRow narrower(const char* name, const char* meaning) {
  return {name, meaning, false,
          [](int, int real) {
            constexpr int bytes = sizeof(typename Format::Word);
            return bytes < real ? bytes : 0;
          },
          [](int) { return Format::error_exponent; }};
}

/// Sign and exponent take twelve bits of double precision and nine of single precision.
int trimmed_bytes(int bits, int real) {
  const int bytes = divided_up((real == 8 ? 12 : 9) + bits, 8);
  return bytes > real ? 0 : std::max(bytes, 2);
}

}  // namespace

std::span<const CodecRow> codec_table() {
  static const std::array table{
      narrower<codec::Fp32>("fp32", "single precision, of double precision"),
      narrower<codec::Fp16>("fp16", "half precision, with a power of two for every 64 numbers"),
      narrower<codec::Bf16>("bf16", "the upper half of single precision"),
      CodecRow{"trim", "so many bits of the mantissa, in whole bytes (trim:20)", true, trimmed_bytes,
               [](int bits) { return -bits - 1; }},
  };
  return table;
}

Codec find_codec(const std::string& name) {
  if (name == "none") return {};
  const std::size_t colon = name.find(':');
  std::vector<std::string> names{"none"};
  for (const CodecRow& row : codec_table()) {
    names.emplace_back(row.takes_bits ? std::string(row.name) + ":20" : row.name);
    if (name.substr(0, colon) != row.name) continue;
    if (!row.takes_bits && colon == std::string::npos) return {&row, 0};
    if (!row.takes_bits) throw Error(operation, "\"" + name + "\"", std::string(row.name) + " alone");
    int bits = -1;
    const char* const end = name.data() + name.size();
    const bool number = colon != std::string::npos &&
                        std::from_chars(name.data() + colon + 1, end, bits).ptr == end && bits >= 0;
    if (!number || bits > most_trim_bits)
      throw Error(operation, "\"" + name + "\"",
                  std::string(row.name) + ":m with m from 0 to " + std::to_string(most_trim_bits) +
                      ", the bits of the mantissa that are kept");
    return {&row, bits};
  }
  throw Error(operation, "\"" + name + "\"", one_of(names, name));
}

void check_codec(const Codec& codec, int real_bytes) {
  if (!codec || codec.row->bytes(codec.bits, real_bytes) > 0) return;
  throw Error("plan: option codec",
              to_string(codec) + " for numbers of " + std::to_string(real_bytes) + " bytes",
              "a codec that makes them shorter, or none");
}

Index row_bytes(const Codec& codec, Index reals, int real_bytes) {
  if (!codec) return reals * real_bytes;
  return codec::heads_bytes(reals) + rounded_up<Index>(reals * codec.row->bytes(codec.bits, real_bytes), 8);
}

double relative_error(const Codec& codec) {
  return codec ? std::ldexp(1.0, codec.row->error_exponent(codec.bits)) : 0;
}

std::string to_string(const Codec& codec) {
  if (!codec) return "none";
  return codec.row->name + (codec.row->takes_bits ? ":" + std::to_string(codec.bits) : "");
}

}  // namespace weft
