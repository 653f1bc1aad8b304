// Copies between a strided box and coded rows (codec/codec.hpp): encoding is part of packing, decoding of
// unpacking. Only the numbers of a few blocks are held aside where a row is not contiguous in the box.
#pragma once

#include <cstddef>
#include <memory>

#include "geometry/grid.hpp"
#include "kernels/coded_loops.hpp"
#include "kernels/cpu/rows.hpp"
#include "kernels/cpu/zfp.hpp"

namespace weft {

/// A planned copy.
class CodedCopy {
 public:
  /// `zfp`: of codec zfp; as many as slices that may run at once.
  explicit CodedCopy(const CodedRequest& request, std::shared_ptr<ZfpStreams> zfp = nullptr);

  codec::Outcome run(const std::byte* from, std::byte* to) const { return run_part(from, to, 0, 1); }

  /// Does one of `parts` nearly equal slices of `run`; some may be empty. Slices write different memory and
  /// may run at the same time. Allocates nothing.
  codec::Outcome run_part(const std::byte* from, std::byte* to, int part, int parts) const;

 private:
  codec::Outcome some_rows(const std::byte* from, std::byte* to, const Range& range,
                           const RowManner& manner) const;
  /// An element is `Count` real numbers.
  template <class Real, int Count>
  bool lies_in_rows() const;
  template <class Real, int Count>
  codec::Outcome encode_rows(const std::byte* box, std::byte* rows, Index count,
                             const RowManner& manner) const;
  template <class Real, int Count>
  codec::Outcome decode_rows(const std::byte* rows, std::byte* box, Index count,
                             const RowManner& manner) const;

  CodedLoops loops_;
  bool encodes_;
  int real_bytes_;
  RowCoder coder_;
  std::shared_ptr<ZfpStreams> zfp_;
};

}  // namespace weft
