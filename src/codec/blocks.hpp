// The codecs that Weft itself codes, by name: the types of their blocks.
#pragma once

#include <string>
#include <string_view>

#include "codec/bf16.hpp"
#include "codec/codec.hpp"
#include "codec/fp16.hpp"
#include "codec/fp32.hpp"
#include "codec/scaled.hpp"
#include "codec/trim.hpp"
#include "weft/error.hpp"

namespace weft::codec {

/// Calls `use` with the type of a block of `codec`, of numbers of type `Real`, as its template argument.
/// Throws `weft::Error` if there is none.
template <class Real, class Use>
auto with_block(const Codec& codec, const Use& use) {
  const std::string_view name = codec.row->name;
  if (name == "fp16") return use.template operator()<Scaled<Fp16, Real>>();
  if (name == "bf16") return use.template operator()<Scaled<Bf16, Real>>();
  if constexpr (sizeof(Real) == 8)
    if (name == "fp32") return use.template operator()<Scaled<Fp32, Real>>();
  if (name == "trim") {
    const int bytes = codec.row->wire_bits(codec.bits, sizeof(Real)) / 8;
    if (bytes == 2) return use.template operator()<Trim<2, Real>>();
    if (bytes == 3) return use.template operator()<Trim<3, Real>>();
    if constexpr (sizeof(Real) == 8) {
      if (bytes == 4) return use.template operator()<Trim<4, Real>>();
      if (bytes == 5) return use.template operator()<Trim<5, Real>>();
      if (bytes == 6) return use.template operator()<Trim<6, Real>>();
      if (bytes == 7) return use.template operator()<Trim<7, Real>>();
    }
  }
  throw Error("codec", std::string(name) + " of " + std::to_string(sizeof(Real)) + " bytes",
              "a codec that Weft codes");
}

}  // namespace weft::codec
