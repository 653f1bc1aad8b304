// Copies between a strided box and coded rows (codec/codec.hpp): encoding is part of packing, decoding of
// unpacking. Only the numbers of a few blocks are held aside where a row is not contiguous in the box.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "geometry/grid.hpp"
#include "kernels/cpu/rows.hpp"
#include "kernels/cpu/zfp.hpp"

namespace weft {

/// A planned copy.
class CodedCopy {
 public:
  struct Request {
    Codec codec;
    bool encodes = false;
    int real_bytes = 8, element_bytes = 16;
    Shape extents;                ///< of the copied box
    Strides box_strides;          ///< elements
    Strides row_strides;          ///< bytes; that along `axis` does not count
    int axis = 0;                 ///< of the rows
    Index points = 0, first = 0;  ///< of a row, and where in it the box begins; whole blocks to encode
    double factor = 1;            ///< encoding: what the elements are multiplied by
    std::shared_ptr<ZfpStreams> zfp = nullptr;  ///< codec zfp: as many as slices that may run at once
  };
  explicit CodedCopy(const Request& request);

  codec::Outcome run(const std::byte* from, std::byte* to) const { return run_part(from, to, 0, 1); }

  /// Does one of `parts` nearly equal slices of `run`; some may be empty. Slices write different memory and
  /// may run at the same time. Allocates nothing.
  codec::Outcome run_part(const std::byte* from, std::byte* to, int part, int parts) const;

 private:
  struct Loop {
    Index n, box, row;  ///< strides in bytes
  };

  codec::Outcome some_rows(const std::byte* from, std::byte* to, const Range& range,
                           const RowManner& manner) const;
  /// An element is `Count` real numbers.
  template <class Real, int Count>
  codec::Outcome encode_rows(const std::byte* box, std::byte* rows, Index count,
                             const RowManner& manner) const;
  template <class Real, int Count>
  codec::Outcome decode_rows(const std::byte* rows, std::byte* box, Index count,
                             const RowManner& manner) const;

  Request request_;
  RowCoder coder_;
  std::array<Loop, max_axes> loops_{};  ///< around the rows; the last one has the shortest stride in the box
  int count_ = 0;
  Index rows_ = 1;  ///< all of them
};

}  // namespace weft
