// Encodes and decodes rows of real numbers (codec/codec.hpp). One set of functions for each codec, precision
// and instruction set; the best that the processor has is chosen once, at run time.
#pragma once

#include <cstddef>
#include <span>

#include "codec/block.hpp"
#include "codec/codec.hpp"

namespace weft {

class ZfpStream;

/// How the numbers of a row are coded, beside the codec and the precision.
struct RowManner {
  int bits = 0;              ///< of the codec
  int point_reals = 1;       ///< 2: real and imaginary parts follow each other
  ZfpStream* zfp = nullptr;  ///< codec zfp: no other thread uses it meanwhile
};

struct RowCoder {
  /// Encodes the reals `first` to `last` of a row of `reals`. `first` is a multiple of a block, and `last`
  /// too or the end of the row. `from` has the number at `first`.
  codec::Outcome (*encode)(const std::byte* from, Index first, Index last, Index reals,
                           const RowManner& manner, std::byte* row);
  /// Decodes any part of a row. A block is checked by whoever decodes its first number.
  codec::Outcome (*decode)(const std::byte* row, Index reals, Index first, Index last,
                           const RowManner& manner, std::byte* to);
};

/// A set of row coders for an instruction set.
struct RowKernel {
  const char* name;
  bool (*runs_here)();
  RowCoder (*coder)(const Codec& codec, int real_bytes);
};

/// All kernels, the fastest first. The last one runs on every processor.
std::span<const RowKernel> row_kernels();

/// The coder of the fastest kernel that runs on this processor. `codec` has a representation of real numbers
/// of so many bytes.
RowCoder row_coder(const Codec& codec, int real_bytes);

}  // namespace weft
