// Copies between a strided box and coded rows (codec/codec.hpp) as data, for kernels (coded_rows.hpp) and the
// device interface.
#pragma once

#include <cstdint>

#include "base/anywhere.hpp"
#include "codec/codec.hpp"
#include "weft/axis_vector.hpp"

namespace weft {

/// What a copy is, of which one side is coded in rows.
struct CodedRequest {
  Codec codec;
  bool encodes = false;
  int real_bytes = 8, element_bytes = 16;
  Shape extents;                ///< of the copied box
  Strides box_strides;          ///< elements
  Strides row_strides;          ///< bytes; that along `axis` does not count
  int axis = 0;                 ///< of the rows
  Index points = 0, first = 0;  ///< of a row, and where in it the box begins; whole blocks to encode
  double factor = 1;            ///< encoding: what the elements are multiplied by
};

/// The same as loops.
struct CodedLoops {
  struct Loop {
    Index n = 1, box = 0, row = 0;  ///< strides in bytes
  };
  /// Around the rows; the first one has the shortest stride in the box.
  Loop loops[max_axes] = {};  // a plain array, which devices can index
  int count = 0;
  Index rows = 1;             ///< all of them; 0: there is nothing to copy
  Index reals = 0;            ///< of a row
  Index first = 0, last = 0;  ///< those that are copied
  Index heads = 0;            ///< bytes of a row's heads
  Index stride = 0;           ///< bytes in the box from one point of a row to the next
  int point_reals = 1;        ///< 2: complex numbers
  int bits = 0;               ///< of the codec
  double factor = 1;
  int group_rows = 0;     ///< rows that a group of threads codes at a time
  bool across = false;    ///< neighbours in the box belong to different rows
  Index first_block = 0;  ///< of those that are copied
  /// Bytes in the box from the first copied point of a row to the first number of that block, which may be in
  /// front of it, and from one block to the next.
  Index box_start = 0, box_step = 0;
  std::uint32_t blocks = 0;  ///< of a row, those that are copied
  /// Of them, those whose numbers are all copied, if they are complex.
  std::uint32_t whole_begin = 0, whole_end = 0;
  std::uint32_t together = 1;   ///< of them, one after the other by the same group of threads
  std::uint32_t divisions = 0;  ///< groups that share a row

  explicit CodedLoops(const CodedRequest& request);
  /// Where a row begins in the box and among the rows, in bytes.
  WEFT_INLINE void locate(Index row, Index& in_box, Index& in_rows) const {
    in_box = in_rows = 0;
    WEFT_KEEP_LOOP
    for (int i = 0; i < count; ++i) {
      const Loop& loop = loops[i];
      const Index rest = i + 1 < count ? row / loop.n : 0, at = row - rest * loop.n;
      in_box += at * loop.box;
      in_rows += at * loop.row;
      row = rest;
    }
  }
};

/// What a failure is told by: `*at` becomes `name` plus the outcome, if one of the blocks is not good.
struct CodingFault {
  std::uint32_t* at = nullptr;
  std::uint32_t name = 0;
};

}  // namespace weft
